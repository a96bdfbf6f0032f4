package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The events of a real run are summarised: the results of packages, the output of what
// failed, and what was skipped.
func TestSummarize(t *testing.T) {
	for _, test := range []struct {
		name, events string
		ok           bool
		want         string
	}{
		{"passed", `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`, true, "ok  \tp\t0.1s\nAll tests passed.\n"},
		{"skipped", `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: SKIP: X is not installed; to run this test, install X\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    a_test.go:1: SKIP: X is not installed; to run this test, install X\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"skip","Package":"q"}
`, true, "ok  \tp\t0.1s\nAll tests passed. Left out: 2 tests (X is not installed: install X).\n"},
		{"failed", `{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:1: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
`, false, "    a_test.go:1: got 1, want 2\nFAIL\tp\t0.1s\nSome tests failed; their output is above.\n"},
		{"not built", `{"ImportPath":"p [p.test]","Action":"build-output","Output":"./a.go:1: undefined: x\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
`, false, "./a.go:1: undefined: x\nSome tests failed; their output is above.\n"},
		{"go itself", "go: no such package\n", false, "go: no such package\nSome tests failed; their output is above.\n"},
		{"nothing", "", false, ""},
	} {
		var out strings.Builder
		ok, err := summarize(strings.NewReader(test.events), &out)
		if ok != test.ok || (err != nil) != (test.events == "") || out.String() != test.want {
			t.Errorf("%s: %v, %v\ngot:\n%swant %v:\n%s", test.name, ok, err, out.String(), test.ok, test.want)
		}
	}
}

// The go command prints the events that summarize reads.
func TestRealEvents(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-count=1", "-vet=off", "-run", "CodeLines", "../size")
	events, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if ok, err := summarize(strings.NewReader(string(events)), &out); !ok || err != nil || !strings.HasPrefix(out.String(), "ok  \t") {
		t.Errorf("%v, %v:\n%s", ok, err, out.String())
	}
}
