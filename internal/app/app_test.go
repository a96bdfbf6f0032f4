package app

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/store/sqlite"
)

func record(t *testing.T, a *App, id sequent.ID, texts ...string) {
	t.Helper()
	_, err := a.Engine.Ensure(t.Context(), id, func(c *sequent.Change) error {
		for i, text := range texts {
			if _, err := c.Append(sequent.Draft{Number: i + 1, Text: text}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenExisting(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE", "XDG_DATA_HOME", "LocalAppData"} {
		t.Setenv(v, home)
	}
	ctx := t.Context()

	// OpenExisting creates nothing.
	a, err := OpenExisting(ctx, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if page, err := a.Engine.Sessions(ctx, sequent.Query{}); err != nil || len(page.Headers) > 0 {
		t.Errorf("missing store: got sessions %v, %v", page.Headers, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(home); len(entries) > 0 {
		t.Errorf("OpenExisting created %v", entries)
	}
	_, err = OpenExisting(ctx, Config{Store: filepath.Join(home, "typo.db")})
	if !errors.Is(err, fs.ErrNotExist) || sequent.CodeOf(err) != sequent.CodeUnavailable {
		t.Errorf("missing file: got %v", err)
	}
	if _, err := OpenExisting(ctx, Config{Store: "memory"}); err == nil {
		t.Error("OpenExisting of memory = nil, want an error")
	}

	// Another App sees the recorded thoughts.
	writer, err := Open(ctx, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	record(t, writer, "x", "one", "two")
	reader, err := OpenExisting(ctx, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if s, err := reader.Engine.Session(ctx, "x"); err != nil || s.Len() != 2 {
		t.Errorf("second App: got %v, %v", s, err)
	}
}

// An invalid setting is an error before a store is created.
func TestOpenInvalid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for _, cfg := range []Config{{Dialect: "esperanto"}, {HTTP: HTTPConfig{Addr: "x"}}} {
		cfg.Store = path
		a, err := Open(t.Context(), cfg)
		if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Code != sequent.CodeUsage || e.Fix == "" {
			t.Errorf("Open(%+v) = %v, %v; want a usage error with a fix", cfg, a, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("Open(%+v) created a store", cfg)
		}
	}
}

func TestDialects(t *testing.T) {
	a, err := Open(t.Context(), Config{Store: "memory"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if names := (Config{}).Names(); names[0] != "standard" {
		t.Errorf("got default dialect %s, want standard", names[0])
	}
	for _, name := range (Config{}).Names() {
		a.config.Dialect = name
		d, err := a.Dialect()
		if err != nil || d.Name != name || len(d.Tools) == 0 {
			t.Errorf("%s: got %q with %d tools, %v", name, d.Name, len(d.Tools), err)
		}
	}
}

// A server deletes expired sessions soon after its start and periodically.
func TestServeSweeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := Open(t.Context(), Config{Store: "memory", SessionTTL: new(30 * time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		record(t, a, "old", "one")
		in, feed := io.Pipe()
		done := make(chan error)
		go func() { done <- a.Serve(t.Context(), in, io.Discard) }()

		stored := func() int { // includes expired sessions
			page, err := a.store.List(t.Context(), sequent.Query{})
			if err != nil {
				t.Fatal(err)
			}
			return len(page.Headers)
		}
		time.Sleep(50 * time.Second)
		synctest.Wait()
		if n := stored(); n != 1 {
			t.Errorf("before the first sweep: got %d sessions, want 1", n)
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if n := stored(); n != 0 {
			t.Errorf("after the first sweep: got %d sessions, want none", n)
		}
		record(t, a, "next", "one")
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := stored(); n != 0 {
			t.Errorf("after the second sweep: got %d sessions, want none", n)
		}
		feed.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v at the end of the input, want nil", err)
		}
	})
}

// A server with a read-only store does not start.
func TestServeReadOnlyStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	a, err := Open(t.Context(), Config{Store: path})
	if err != nil {
		t.Fatal(err)
	}
	record(t, a, "x", "one")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	// The same as Open of a file without write permission.
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	a = &App{store: store, Engine: sequent.New(sequent.Config{Store: store})}
	defer a.Close()
	if s, err := a.Engine.Session(t.Context(), "x"); err != nil || s.Len() != 1 {
		t.Errorf("reading a session: got %v, %v", s, err)
	}
	err = a.Serve(t.Context(), strings.NewReader(""), io.Discard)
	if sequent.CodeOf(err) != sequent.CodeReadOnly {
		t.Errorf("Serve = %v, want the code %s", err, sequent.CodeReadOnly)
	}
}

// A dialect of another module is built from an Env and served like the others.
func TestCustomDialect(t *testing.T) {
	dir := t.TempDir()
	var env dialect.Env
	custom := dialect.Builder{Name: "custom", Build: func(e dialect.Env) (dialect.Dialect, error) {
		env = e
		return dialect.Dialect{Name: "custom"}, nil
	}}
	open := func(cfg Config) (dialect.Dialect, error) {
		cfg.Store, cfg.Dialect = "memory", "custom"
		a, err := Open(t.Context(), cfg)
		if err != nil {
			return dialect.Dialect{}, err
		}
		defer a.Close()
		return a.Dialect()
	}
	d, err := open(Config{Dialects: []dialect.Builder{custom}, StoragePath: dir})
	if err != nil || d.Name != "custom" {
		t.Errorf("got %q, %v", d.Name, err)
	}
	if env.Engine == nil || env.Rand == nil || env.Logger == nil || env.Stderr == nil || env.Dir != dir {
		t.Errorf("got the incomplete %+v", env)
	}
	if names := (Config{Dialects: []dialect.Builder{custom}}).Names(); !slices.Equal(names, append((Config{}).Names(), "custom")) {
		t.Errorf("Names = %q, want custom to be the last", names)
	}

	failing := func(dialect.Env) (dialect.Dialect, error) { return dialect.Dialect{}, errors.New("no") }
	for name, cfg := range map[string]Config{
		"unknown":           {},
		"twice":             {Dialects: []dialect.Builder{custom, custom}},
		"of this module":    {Dialects: []dialect.Builder{custom, {Name: "standard", Build: custom.Build}}},
		"not part of a URL": {Dialects: []dialect.Builder{custom, {Name: "Über", Build: custom.Build}}},
		"without a name":    {Dialects: []dialect.Builder{custom, {Build: custom.Build}}},
		"under another name": {Dialects: []dialect.Builder{{Name: "custom", Build: func(dialect.Env) (dialect.Dialect, error) {
			return dialect.Dialect{Name: "other"}, nil
		}}}},
		"that does not build": {Dialects: []dialect.Builder{{Name: "custom", Build: failing}}},
	} {
		if d, err := open(cfg); err == nil {
			t.Errorf("a dialect %s: got %+v, want an error", name, d)
		}
	}
}
