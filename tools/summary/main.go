// Command summary prints the output of go test -json for people: a line for each
// package, the output of failed tests, and at the end one line with the tests that
// were skipped, why, and how to run them.
//
//	go test -json ./... | go run -C tools ./summary
//
// It exits with 1 if a test or a build failed.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// An event is one line of go test -json, as documented by "go doc test2json".
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of a build
}

func main() {
	ok, err := summarize(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// summarize copies what people read from in to out, and reports whether all tests passed.
func summarize(in io.Reader, out io.Writer) (ok bool, err error) {
	outputs := make(map[string][]string) // by test
	skipped := make(map[string]int)      // number of tests by reason
	packages, failed := 0, 0
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Fprintf(out, "%s", line) // of the go command itself, which could not begin
			failed++
			continue
		}
		test := e.Package + " " + e.Test
		switch e.Action {
		case "output":
			if e.Test == "" && shown(e.Output) {
				fmt.Fprint(out, e.Output)
			}
			outputs[test] = append(outputs[test], e.Output)
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "build-fail":
			failed++
		case "fail":
			failed++
			if e.Test != "" { // what a package prints is shown already
				fmt.Fprint(out, strings.Join(outputs[test], ""))
			}
		case "skip":
			if e.Test != "" {
				skipped[reason(outputs[test])]++
			}
		}
		if e.Test == "" && e.Package != "" && e.Action != "output" && e.Action != "start" {
			packages++
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(outputs, test)
		}
	}
	if packages == 0 && failed == 0 {
		return false, errors.New("no package was tested: the go command did not begin")
	}
	fmt.Fprintln(out, conclusion(failed, skipped))
	return failed == 0, nil
}

// shown reports whether a line of a package is for people: its result, and what a panic prints.
func shown(line string) bool {
	return !strings.HasPrefix(line, "PASS") && !strings.HasPrefix(line, "?") && !strings.HasPrefix(line, "-test.shuffle") &&
		!strings.HasPrefix(line, "testing: warning: no tests to run") && strings.TrimSpace(line) != ""
}

// reason returns what a test lacks and how to get it, as package needtest says it.
func reason(output []string) string {
	for _, line := range output {
		if _, text, ok := strings.Cut(line, ": SKIP: "); ok {
			if what, get, ok := strings.Cut(strings.TrimSpace(text), "; to run this test, "); ok {
				return what + ": " + get
			}
		}
	}
	return "not for this system or user"
}

// conclusion returns the last line: what failed and what was left out.
func conclusion(failed int, skipped map[string]int) string {
	var b strings.Builder
	switch failed {
	case 0:
		b.WriteString("All tests passed.")
	default:
		b.WriteString("Some tests failed; their output is above.")
	}
	for i, reason := range slices.Sorted(maps.Keys(skipped)) {
		b.WriteString([]string{" Left out: ", " "}[min(i, 1)])
		noun := "tests"
		if skipped[reason] == 1 {
			noun = "test"
		}
		fmt.Fprintf(&b, "%d %s (%s).", skipped[reason], noun, reason)
	}
	return b.String()
}
