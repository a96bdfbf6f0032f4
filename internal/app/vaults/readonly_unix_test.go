//go:build unix

package vaults

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
)

// A vault that cannot be written is searched all the same, and nothing is lost that
// is thought meanwhile: it gets its notes when it can be written.
func TestReadOnlyVault(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIP: root may write everywhere")
	}
	dir, engine := t.TempDir(), sequent.New(sequent.Config{})
	if err := os.WriteFile(filepath.Join(dir, "pool.md"), []byte("# Pool\n\nThe [[pool]] is small.\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	const id = "session-1773500968000-12345"
	cfg := Config{Dir: dir, Engine: engine, Cache: t.TempDir()}

	v := New(cfg)
	w, err := v.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := engine.Begin(t.Context(), id, func(c *sequent.Change) error {
		c.BeginIn("", "wiki")
		c.SetLabel("vault", w.Sessions.ID())
		_, err := c.Append(sequent.Draft{Text: "Why the [[pool]]?"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Sessions.Write(t.Context(), s); sequent.CodeOf(err) != vault.CodeReadOnly {
		t.Errorf("writing a note gives %v", err)
	}
	found, err := w.Search(t.Context(), index.Query{Text: "pool"}, nil)
	if err != nil || found.Total != 1 {
		t.Errorf("a search finds %+v, %v", found, err)
	}
	if _, err := w.Sync(t.Context(), false, nil); sequent.CodeOf(err) != vault.CodeReadOnly {
		t.Errorf("sync gives %v", err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}

	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	free, err := open(t, cfg).Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := free.Sync(t.Context(), false, nil)
	if err != nil || r.Sessions != 1 || r.Notes != 2 {
		t.Errorf("once it is writable, sync gives %+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "thinking", "sequential", id+".md")); err != nil {
		t.Error(err)
	}
}

// Without a cache folder, a read-only vault is refused.
func TestReadOnlyVaultWithoutCache(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIP: root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	v := open(t, Config{Dir: dir, Engine: sequent.New(sequent.Config{})})
	if _, err := v.Open(t.Context(), ""); sequent.CodeOf(err) != vault.CodeReadOnly {
		t.Errorf("it is opened with %v", err)
	}
}
