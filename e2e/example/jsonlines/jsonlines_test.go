package jsonlines_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"

	"github.com/sequent-dev/sequent/e2e/example/jsonlines"
)

// A file is a store and where it is.
type file struct {
	*jsonlines.Store
	path string
}

func open(t *testing.T, path string) sequent.Store {
	t.Helper()
	s, err := jsonlines.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return file{s, path}
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T) sequent.Store {
			return open(t, filepath.Join(t.TempDir(), "sessions.jsonl"))
		},
		Reopen: func(t *testing.T, s sequent.Store) sequent.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, s.(file).path)
		},
	})
}

// A crash leaves part of a line. What was acknowledged before is kept, and the file
// can be written to.
func TestIncompleteLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.jsonl")
	append := func(id sequent.ID) {
		s := open(t, path)
		defer s.Close()
		_, err := sequent.New(sequent.Config{Store: s}).Begin(t.Context(), id, func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 1, Text: "kept"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	append("before")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []int{1, len(text) / 2, len(text) - 1} {
		if err := os.WriteFile(path, slices.Concat(text, text[:part]), 0o600); err != nil {
			t.Fatal(err)
		}
		append("after")
		s := open(t, path)
		for _, id := range []sequent.ID{"before", "after"} {
			if _, _, err := s.Load(t.Context(), sequent.Key{ID: id}, sequent.Position{}); err != nil {
				t.Errorf("after %d bytes of a line: session %s: %v", part, id, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile(path, []byte("{]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := jsonlines.Open(path); sequent.CodeOf(err) != sequent.CodeCorrupt {
		t.Errorf("Open of a damaged file: %v, want the code %s", err, sequent.CodeCorrupt)
	}
}
