package vaults

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
)

// Each owner has a folder of its own on every file system, whatever its name.
func TestOwnersDir(t *testing.T) {
	if got := ownersDir(""); got != "." {
		t.Errorf("the local user's folder is %q", got)
	}
	owners := []string{
		"alice", "Alice", "ALICE", "al ice", "al_ice", "al-ice", "al.ice", "..", ".", "/", `\`, "../../etc", "con", "nul", "a/b", "a:b",
		"\x00", "é", "e\u0301", "日本", "_61lice", "of-alice", "hash-", "https://issuer.example.com|1234", "a.", "a ", "*", "~",
		strings.Repeat("a", 200), strings.Repeat("a", 201), strings.Repeat("a", 202), strings.Repeat("é", 128),
	}
	seen := make(map[string]string)
	for _, owner := range owners {
		dir := ownersDir(owner)
		name := filepath.Base(dir)
		if filepath.Dir(dir) != ".owners" || len(name) > 255 || name != strings.ToLower(name) || strings.ContainsAny(name, `./\:*~ `) {
			t.Errorf("the folder of %q is %q", owner, dir)
		}
		if other, taken := seen[dir]; taken {
			t.Errorf("%q and %q share the folder %q", owner, other, dir)
		}
		seen[dir] = owner
	}
}

func open(t *testing.T, cfg Config) *Vaults {
	t.Helper()
	v := New(cfg)
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

// Concurrent calls for one owner open one vault.
func TestOpenIsOnce(t *testing.T) {
	v := open(t, Config{Dir: t.TempDir(), Engine: sequent.New(sequent.Config{})})
	var all sync.WaitGroup
	var found sync.Map
	for i := range 24 {
		all.Go(func() {
			owner := []string{"", "alice", "bob"}[i%3]
			got, err := v.Open(t.Context(), owner)
			if first, _ := found.LoadOrStore(owner, got); err != nil || first != got {
				t.Errorf("%q has two vaults, or %v", owner, err)
			}
		})
	}
	all.Wait()
	ids := make(map[string]bool)
	for _, one := range found.Range {
		ids[one.(*Vault).Sessions.ID()] = true
	}
	if len(ids) != 3 {
		t.Errorf("three owners have the vaults %v", ids)
	}
}

// A folder that cannot be opened is reported, and tried again by the next call.
func TestOpenFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v := open(t, Config{Dir: dir, Engine: sequent.New(sequent.Config{})})
	if _, err := v.Open(t.Context(), ""); sequent.CodeOf(err) != "vault_unavailable" {
		t.Errorf("a file as a vault: %v", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Open(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if _, err := v.Open(t.Context(), ""); sequent.CodeOf(err) != sequent.CodeCanceled {
		t.Errorf("after Close: %v", err)
	}
}

// An embedFunc is an embedding model.
type embedFunc func(texts []string) ([][]float32, error)

func (e embedFunc) Embed(_ context.Context, texts []string) ([][]float32, error) { return e(texts) }

// A note is deleted from the index at once. That waits for no embedding model.
func TestDeleteNote(t *testing.T) {
	model := embedFunc(func([]string) ([][]float32, error) {
		t.Error("the model is asked")
		return nil, errors.New("no model")
	})
	v := open(t, Config{Dir: t.TempDir(), Engine: sequent.New(sequent.Config{}), Model: "m", Embedder: model})
	own, err := v.Open(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, uri := range []vault.URI{"memory://a", "memory://b"} {
		if err := own.Notes.Create(t.Context(), &vault.Note{URI: uri, Body: "xyzzy"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{2, 1} {
		if want == 1 {
			if err := own.DeleteNote(t.Context(), "memory://a"); err != nil {
				t.Fatal(err)
			}
		}
		if r, err := own.Index.Search(t.Context(), index.Query{Text: "xyzzy", Mode: index.FullText}, nil); err != nil || r.Total != want {
			t.Errorf("%d notes have the word, %v, want %d", r.Total, err, want)
		}
	}
}

// A folder that is removed or replaced while a server runs is opened again, and a
// session that continues has its whole note there.
func TestFolderReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	engine := sequent.New(sequent.Config{})
	v := open(t, Config{Dir: dir, Engine: engine})
	think := func(text string) {
		t.Helper()
		own, err := v.Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := engine.Ensure(t.Context(), "session-1", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: c.Session().Len(), Total: 3, Text: text})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.Sessions.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	think("first")
	if runtime.GOOS == "windows" {
		t.Skip("a folder in use cannot be removed")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	think("second")
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	think("third")
	note, err := os.ReadFile(filepath.Join(dir, "thinking", "sequential", "session-1.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"\nfirst\n", "\nsecond\n", "\nthird\n"} {
		if !strings.Contains(string(note), text) {
			t.Errorf("the note lacks %q:\n%s", text, note)
		}
	}
}
