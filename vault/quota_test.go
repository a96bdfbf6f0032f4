package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

func TestMaxNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) { testMaxNotes(t, dir) })
}

func testMaxNotes(t *testing.T, dir string) {
	v, err := vault.Open(vault.Config{Dir: dir, MaxNotes: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := os.WriteFile(filepath.Join(dir, "by hand.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	create := func(name string) error {
		uri, err := vault.PathURI(name)
		if err != nil {
			t.Fatal(err)
		}
		return v.Create(t.Context(), vault.ParseNote(uri, []byte("text")))
	}
	for i := range 2 {
		if err := create(fmt.Sprintf("%d.md", i)); err != nil {
			t.Fatalf("note %d: %v", i+2, err)
		}
	}
	if err := create("0.md"); sequent.CodeOf(err) != sequent.CodeQuotaExceeded && sequent.CodeOf(err) != vault.CodeExists {
		t.Errorf("a note that exists: %v", err)
	}
	if err := create("third.md"); sequent.CodeOf(err) != sequent.CodeQuotaExceeded {
		t.Errorf("the note above the quota: %v", err)
	}
	if err := v.Room(t.Context()); sequent.CodeOf(err) != sequent.CodeQuotaExceeded {
		t.Errorf("Room: %v", err)
	}
	if err := v.Delete(t.Context(), "memory://0.md", nil); err != nil {
		t.Fatal(err)
	}
	if err := create("third.md"); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
	// A person deletes a note: noticed at a refusal that is a second later.
	if err := os.Remove(filepath.Join(dir, "by hand.md")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // fake time
	err = create("fourth.md")
	if err != nil {
		t.Errorf("after a deletion by hand: %v", err)
	}
}
