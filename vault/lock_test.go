package vault_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A vault that is opened twice behaves like two processes, because a file lock belongs
// to an open file.
func TestUpdatesTakeTurns(t *testing.T) {
	const writers, changes = 6, 10
	dir := t.TempDir()
	vaults := []*vault.Vault{openIn(t, vault.Config{Dir: dir}), openIn(t, vault.Config{Dir: dir})}
	if err := vaults[0].Create(t.Context(), &vault.Note{URI: "memory://log"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range writers {
		v := vaults[w%len(vaults)]
		wg.Go(func() {
			for n := range changes {
				_, err := v.Update(t.Context(), "memory://log", func(note *vault.Note) error {
					note.Body += fmt.Sprintf("%d.%d\n", w, n)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	text := get(t, dir, "log.md")
	for w := range writers {
		for n := range changes {
			if line := fmt.Sprintf("%d.%d\n", w, n); strings.Count("\n"+text, "\n"+line) != 1 {
				t.Errorf("%q is there %d times", line, strings.Count("\n"+text, "\n"+line))
			}
		}
	}
}

func TestWaitingHasAnEnd(t *testing.T) {
	dir := t.TempDir()
	v := openIn(t, vault.Config{Dir: dir})
	impatient := openIn(t, vault.Config{Dir: dir, LockTimeout: 20 * time.Millisecond})
	put(t, dir, "Note.md", "x")
	_, err := v.Update(t.Context(), "memory://Note", func(*vault.Note) error {
		// The same file on a case-insensitive file system.
		err := impatient.Create(t.Context(), &vault.Note{URI: "memory://note"})
		if sequent.CodeOf(err) != vault.CodeBusy {
			t.Errorf("held by another process: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := v.Create(ctx, &vault.Note{URI: "memory://note"}); sequent.CodeOf(err) != sequent.CodeCanceled {
			t.Errorf("given up: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// A caller that timed out holds nothing.
	if _, err := v.Update(t.Context(), "memory://Note", func(*vault.Note) error { return nil }); err != nil {
		t.Error(err)
	}
}
