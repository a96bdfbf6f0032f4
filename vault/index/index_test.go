package index_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
)

// A box is a vault with its index, for tests.
type box struct {
	t     testing.TB
	dir   string
	vault *vault.Vault
	*index.Index
}

// newBox returns a box with files, given by their paths.
func newBox(t testing.TB, cfg index.Config, files map[string]string) *box {
	t.Helper()
	b := &box{t: t, dir: t.TempDir()}
	for name, text := range files {
		b.write(name, text)
	}
	b.open(cfg)
	return b
}

func (b *box) open(cfg index.Config) {
	b.t.Helper()
	v, err := vault.Open(vault.Config{Dir: b.dir})
	if err != nil {
		b.t.Fatal(err)
	}
	b.vault, cfg.Vault = v, v
	x := index.New(cfg)
	b.Index = x
	b.t.Cleanup(func() {
		if err := errors.Join(x.Close(), v.Close()); err != nil {
			b.t.Error(err)
		}
	})
}

func (b *box) path(name string) string { return filepath.Join(b.dir, filepath.FromSlash(name)) }

func (b *box) write(name, text string) {
	b.t.Helper()
	p := b.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) remove(name string) {
	b.t.Helper()
	if err := os.RemoveAll(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) sync() index.Report {
	b.t.Helper()
	r, err := b.Sync(b.t.Context(), nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *box) search(q index.Query) index.Results {
	b.t.Helper()
	r, err := b.Search(b.t.Context(), q, nil)
	if err != nil {
		b.t.Fatalf("Search(%+v): %v", q, err)
	}
	return r
}

// find returns the paths of the first page, without the extension.
func (b *box) find(q index.Query) string {
	b.t.Helper()
	var out []string
	for _, h := range b.search(q).Hits {
		out = append(out, strings.TrimSuffix(h.URI.Path(), ".md"))
	}
	return strings.Join(out, " ")
}

func (b *box) text(query string) string {
	b.t.Helper()
	return b.find(index.Query{Text: query, Mode: index.FullText})
}

func wantCode(t *testing.T, err error, code sequent.Code, field string) {
	t.Helper()
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok || e.Code != code || e.Field != field || e.Msg == "" || e.Fix == "" {
		t.Errorf("error %#v, want code %s of field %q with a message and what to do", err, code, field)
	}
}
