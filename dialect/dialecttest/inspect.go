package dialecttest

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent"
)

// inspect compares a section with the session in the store, a file or standard error.
// With -update it changes the section.
func (r *run) inspect(t *testing.T, l line, f txtar.File) error {
	t.Helper()
	var got string
	switch l.verb {
	case "log":
		s, err := r.engine.Owned(l.options["owner"]).Session(t.Context(), sequent.ID(l.arg(0)))
		if err != nil {
			got = string(sequent.CodeOf(err))
		} else {
			got = Log(s)
		}
	case "list":
		names, err := r.list(l.arg(0))
		if err != nil {
			return err
		}
		got = strings.Join(names, "\n")
	case "file":
		data, err := fs.ReadFile(os.DirFS(r.dir), l.arg(0))
		if err != nil {
			return err
		}
		got = string(data)
	case "stderr":
		got = r.stderr.take()
	}
	got = strings.TrimSuffix(got, "\n")
	if r.captures.match(got, text(f)) {
		return nil
	}
	if !r.update {
		t.Errorf("-- %s --\ngot:\n%s\nwant:\n%s", f.Name, r.captures.name(got), f.Data)
		return nil
	}
	r.replaced = section(r.captures.name(got))
	return nil
}

// list returns the paths of the files below a directory of the dialect's.
func (r *run) list(dir string) ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(r.dir), cmp.Or(dir, "."), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("listing %s: %w", name, err)
		}
		if !d.IsDir() {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}
