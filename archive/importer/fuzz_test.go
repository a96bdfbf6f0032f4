package importer

import (
	"bytes"
	"os"
	"testing"

	"github.com/sequent-dev/sequent"
)

// check stores what was read, and once more: the second time nothing happens.
func check(t *testing.T, e *sequent.Engine, s session, err error) {
	t.Helper()
	if err != nil {
		if unreadable(err).Msg == "" {
			t.Fatalf("%#v says nothing", err)
		}
		return
	}
	did, err := e.Restore(t.Context(), s.header, s.log)
	if err != nil {
		if sequent.CodeOf(err) == sequent.CodeInternal {
			t.Fatal(err)
		}
		return
	}
	if did != sequent.RestoredNew {
		t.Fatalf("got %v", did)
	}
	if did, err := e.Restore(t.Context(), s.header, s.log); did != sequent.RestoredNothing || err != nil {
		t.Fatalf("again: %v, %v", did, err)
	}
}

func fuzzed(f *testing.F, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
}

func FuzzArben(f *testing.F) {
	fuzzed(f, "testdata/arben.jsonl")
	f.Add([]byte(`{"version": 1, "thoughts": [{"thought": "a", "thoughtNumber": "1", "stage": "x", "timestamp": "2026-08-18T09:15:02Z"}]}`))
	f.Add([]byte("{\"type\":\"header\",\"version\":2}\n{\"type\":\"thought\",\"thought\":\"a\",\"revisesThoughtNumber\":-1}\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := sequent.New(sequent.Config{})
		s, err := New(Config{Engine: e}).readArben(skipBOM(bytes.NewReader(data)))
		check(t, e, s, err)
	})
}

func FuzzSessionFile(f *testing.F) {
	fuzzed(f, "testdata/plus.json")
	f.Add([]byte(`{"thoughtHistory":[{"thought":"a","branchId":"__proto__","branchFromThought":-1}],"branches":{"__proto__":[[[]]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := sequent.New(sequent.Config{})
		s, err := New(Config{Engine: e}).readSessionFile(bytes.NewReader(data))
		check(t, e, s, err)
	})
}

// What a file is can be told of anything.
func FuzzKind(f *testing.F) {
	for _, file := range []string{"testdata/plus.json", "testdata/arben.jsonl", "testdata/maenifold.md"} {
		fuzzed(f, file)
	}
	f.Add([]byte(`{"format": "sequent-session"}`))
	f.Add([]byte("\uFEFF---\ntype: 'sequential'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if kind, err := kindOf(bytes.NewReader(data)); (kind == "") == (err == nil) {
			t.Fatalf("got %q, %v", kind, err)
		}
	})
}
