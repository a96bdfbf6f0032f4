package dialecttest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

var update = flag.Bool("update", false, "rewrite transcripts and golden files")

// A Config describes the dialect under test.
type Config struct {
	// Build builds the dialect. Env is new for each transcript: Rand returns the same
	// bytes in each run, Dir is an empty directory, and the transcript compares what is
	// written to Stderr. Required.
	Build func(t testing.TB, env dialect.Env) dialect.Dialect

	// Call returns the arguments of the dialect's first tool for a step. It omits what
	// the tool has no argument for. Required.
	Call func(s Step) string

	// Others are calls of the other tools that succeed in a store with any session.
	Others []OtherCall

	limits sequent.Limits // of the engine, for the check of limits
}

// An OtherCall is a call of another tool than the first.
type OtherCall struct {
	Tool string
	Args string
}

// A Step is a thought that a shared check records.
type Step struct {
	Number  int // from 1; a dialect that counts from 0 subtracts one
	Total   int
	Text    string // a dialect may add to it
	Session string // empty means the scope's, or a new one
	Branch  string // with From, if not empty
	From    int
	Last    bool // no other thought follows
}

// Run checks the dialect against the transcripts in testdata, and against the
// rules for all dialects.
func Run(t *testing.T, cfg Config) {
	t.Helper()
	if cfg.Build == nil || cfg.Call == nil {
		t.Fatal("dialecttest: Config needs Build and Call")
	}
	t.Run("Transcripts", func(t *testing.T) {
		files, err := filepath.Glob("testdata/*.txtar")
		if err != nil || len(files) == 0 {
			t.Fatalf("no transcripts in testdata (%v)", err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) { runFile(t, cfg, file) })
		}
	})
	t.Run("Tools", func(t *testing.T) { checkTools(t, cfg) })
	Rules(t, cfg)
}

// Play runs one transcript, with a dialect that cfg.Build may serve over a transport. A step that
// names no scope is made in the given one; an empty one means none.
func Play(t *testing.T, cfg Config, file, scope string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{world: newWorld(t, cfg, sequent.NewMemoryStore()), captures: make(captures), scope: scope}
	r.play(t, archive.Files)
}

// Rules checks the dialect's first tool against the rules for all dialects. [Run] does so
// too. Call Rules for a second tool that records thoughts, with a Build that puts it
// first.
func Rules(t *testing.T, cfg Config) {
	t.Helper()
	t.Run("Loose", func(t *testing.T) { checkLoose(t, cfg) })
	t.Run("Odd", func(t *testing.T) { checkOdd(t, cfg) })
	t.Run("Limits", func(t *testing.T) { checkLimits(t, cfg) })
	t.Run("Faults", func(t *testing.T) { checkFaults(t, cfg) })
	t.Run("Altered", func(t *testing.T) { checkAltered(t, cfg) })
	t.Run("Uncertain", func(t *testing.T) { checkUncertain(t, cfg) })
	t.Run("Concurrent", func(t *testing.T) { checkConcurrent(t, cfg) })
}

// A world is an engine with the dialect under test.
type world struct {
	cfg     Config
	store   sequent.Store
	engine  *sequent.Engine
	dialect dialect.Dialect
	dir     string
	clock   clock
	rand    locked
	stderr  locked
	schemas map[string]*jsonschema.Resolved // of replies, by tool
}

func newWorld(t testing.TB, cfg Config, store sequent.Store) *world {
	t.Helper()
	w := &world{cfg: cfg, store: store, dir: t.TempDir(), schemas: make(map[string]*jsonschema.Resolved)}
	w.clock.pass(time.Duration(time.Date(2026, time.March, 14, 15, 9, 26, 0, time.UTC).UnixNano()))
	w.rand.r = rand.NewChaCha8([32]byte{})
	w.restart(t)
	return w
}

// restart creates a new engine and dialect for the same store.
func (w *world) restart(t testing.TB) {
	t.Helper()
	w.engine = sequent.New(sequent.Config{Store: w.store, Now: w.clock.read, Limits: w.cfg.limits})
	w.dialect = w.cfg.Build(t, dialect.Env{
		Engine: w.engine, Rand: &w.rand, Logger: slog.New(slog.DiscardHandler), Dir: w.dir, Stderr: &w.stderr,
	})
	if len(w.dialect.Tools) == 0 {
		t.Fatal("the dialect has no tools")
	}
}

// A clock is advanced by the test.
type clock struct{ nano atomic.Int64 } // since 1970

func (c *clock) read() time.Time      { return time.Unix(0, c.nano.Load()).UTC() }
func (c *clock) pass(d time.Duration) { c.nano.Add(int64(d)) }

// A locked is a reader and a writer for several goroutines.
type locked struct {
	mu sync.Mutex // guards the fields below
	r  io.Reader
	b  bytes.Buffer
}

func (l *locked) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// take returns what was written since it was last called.
func (l *locked) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

// call calls a tool, the first one if name is empty. It fails the test if a refusal changes
// the store, or if the reply is not as published.
func (w *world) call(ctx context.Context, t testing.TB, name, args string, c tool.Caller) (tool.Reply, error) {
	t.Helper()
	tl := w.tool(t, name)
	before := dump(t, w.store)
	reply, err := tl.Call(ctx, tool.Call{Args: json.RawMessage(args), Caller: c})
	refused := err != nil || reply.Failed
	if after := dump(t, w.store); refused && after != before {
		t.Errorf("a refused call has changed the store\ncall: %.300s\nbefore:\n%.1000s\nafter:\n%.1000s", args, before, after)
	}
	if !refused && tl.OutputSchema != nil {
		w.validate(t, tl, reply.JSON)
	}
	return reply, err
}

func (w *world) tool(t testing.TB, name string) tool.Tool {
	t.Helper()
	for _, tl := range w.dialect.Tools {
		if name == "" || tl.Name == name {
			return tl
		}
	}
	t.Fatalf("the dialect has no tool %s", name)
	return tool.Tool{}
}

// validate compares structured content with the published schema.
func (w *world) validate(t testing.TB, tl tool.Tool, content []byte) {
	t.Helper()
	schema := w.schemas[tl.Name]
	var value any
	err := json.Unmarshal(content, &value)
	if err == nil && schema == nil {
		var s jsonschema.Schema
		if err = json.Unmarshal(tl.OutputSchema, &s); err == nil {
			schema, err = s.Resolve(nil)
		}
		w.schemas[tl.Name] = schema
	}
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("the reply of %s is not as published: %v\n%.1000s", tl.Name, err, content)
	}
}
