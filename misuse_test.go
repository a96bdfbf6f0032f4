package sequent_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// TestMisuseDoesNotCompile type-checks functions that write to a session beside
// the methods of a Change. The first shows that the others fail for that reason.
func TestMisuseDoesNotCompile(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiled := make(map[string]string) // import path → file
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		compiled[path] = file
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	for body, want := range map[string]string{
		`_, _ = c.Append(sequent.Draft{Text: "x"}); c.SetTitle(s.Title()); _ = c.Session().Len()`: "",

		`s.Title = "mine"`:                          "cannot assign to s.Title",
		`s.ID = "b"`:                                "cannot assign to s.ID",
		`s.Len = 7`:                                 "cannot assign to s.Len",
		`s.Header = sequent.Header{}`:               "cannot assign to s.Header",
		`s.Header().State = "x"`:                    "cannot assign to s.Header().State",
		`s.header.Len = 7`:                          "header",
		`_ = sequent.Session{Header: *h}`:           "unknown field Header",
		`_, _ = s.Append(sequent.Draft{Text: "x"})`: "s.Append undefined",
		`s.SetTitle("mine")`:                        "s.SetTitle undefined",
		`s.SetState("x")`:                           "s.SetState undefined",
		`s.SetLabel("a", "b")`:                      "s.SetLabel undefined",
		`s.Conclude("x")`:                           "s.Conclude undefined",
		`s.BeginIn("a", "b")`:                       "s.BeginIn undefined",
		`s.ExpireAt(h.Updated)`:                     "s.ExpireAt undefined",

		`c.Title = "mine"`:               "c.Title undefined",
		`c.ID = "b"`:                     "c.ID undefined",
		`c.session = s`:                  "session",
		`c.Session().Title = "mine"`:     "cannot assign to c.Session().Title",
		`c.Session().Conclude("x")`:      "Conclude undefined",
		`_ = sequent.Change{Session: s}`: "unknown field Session",
	} {
		src := fmt.Sprintf(`package p
			import "github.com/sequent-dev/sequent"
			func f(c *sequent.Change, s *sequent.Session, h *sequent.Header) { %s }`, body)
		f, err := parser.ParseFile(fset, "p.go", src, 0)
		if err != nil {
			t.Fatal(err)
		}
		cfg := types.Config{Importer: imports}
		_, err = cfg.Check("p", fset, []*ast.File{f}, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got error %v, want %q", body, err, want)
		}
	}
}

func TestNilChange(t *testing.T) {
	e := sequent.New(sequent.Config{})
	for name, verb := range map[string]func(context.Context, sequent.ID, func(*sequent.Change) error) (*sequent.Session, error){
		"Begin": e.Begin, "Update": e.Update, "Ensure": e.Ensure,
	} {
		if _, err := verb(t.Context(), "s", nil); sequent.CodeOf(err) != sequent.CodeInternal || !strings.Contains(err.Error(), "nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.Session(t.Context(), "s"); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("the session: %v", err)
	}
}

func TestZeroEngine(t *testing.T) {
	for name, e := range map[string]*sequent.Engine{"new": new(sequent.Engine), "owned": new(sequent.Engine).Owned("a")} {
		ctx := t.Context()
		var errs []error
		add := func(_ any, err error) { errs = append(errs, err) }
		for _, verb := range []func(context.Context, sequent.ID, func(*sequent.Change) error) (*sequent.Session, error){e.Begin, e.Update, e.Ensure} {
			add(verb(ctx, "s", func(c *sequent.Change) error { _, err := c.Append(plain(1)); return err }))
		}
		add(e.Session(ctx, "s"))
		add(e.Sessions(ctx, sequent.Query{}))
		add(e.Search(ctx, sequent.SearchQuery{Text: "x"}))
		add(e.Sweep(ctx, sequent.Query{}))
		add(e.Restore(ctx, sequent.Header{Key: sequent.Key{ID: "s"}, State: sequent.Active}, nil))
		add(nil, e.Delete(ctx, "s"))
		add(e.Usage(ctx, sequent.Query{AllOwners: true}))
		add(e.Watch(ctx))
		_, _, err := e.Entries(ctx, "s", sequent.Position{})
		add(nil, err)
		for i, err := range errs {
			if sequent.CodeOf(err) != sequent.CodeInternal || !strings.Contains(err.Error(), "sequent.New") {
				t.Errorf("%s, call %d: %v", name, i, err)
			}
		}
		if e.Limits() != sequent.New(sequent.Config{}).Limits() || e.Now().IsZero() {
			t.Errorf("%s: %+v, %v", name, e.Limits(), e.Now())
		}
	}
}

func TestZeroSession(t *testing.T) {
	s := new(sequent.Session)
	if s.Len() != 0 || s.ID() != "" || s.State() != "" || s.Label("x") != "" || s.Header().Labels != nil || s.Position() != (sequent.Position{}) {
		t.Errorf("the header is %+v", s.Header())
	}
	_, at := s.At(1)
	_, last := s.Last()
	_, end := s.End("")
	_, origin := s.BranchPoint("b")
	_, found := s.Find("", 1)
	_, from := s.FindBranchPoint(1)
	_, recorded := s.Recorded("k")
	if at || last || end || origin || found || from || recorded {
		t.Error("it has a thought")
	}
	if len(s.Thoughts()) != 0 || len(s.Branches()) != 0 || s.NextNumber("") != 1 || s.NumberAfter(3) != 1 {
		t.Error("it has thoughts")
	}
	if len(s.Path("")) != 0 || len(s.Effective("")) != 0 || len(s.Outline()) != 0 || s.Upto(3).Len() != 0 {
		t.Error("its views have thoughts")
	}
}

func TestEmptyDraft(t *testing.T) {
	e := sequent.New(sequent.Config{})
	if _, err := e.Append(t.Context(), "s", sequent.Draft{}); sequent.CodeOf(err) != sequent.CodeInvalidThought {
		t.Errorf("the zero draft: %v", err)
	}
	// A step without a text is one: some clients send it.
	if s := ensure(t, e, "s", sequent.Draft{Number: 1}); s.Len() != 1 {
		t.Errorf("%d thoughts", s.Len())
	}
}

// A change has effect while its function runs.
func TestChangeIsOver(t *testing.T) {
	e := sequent.New(sequent.Config{})
	var kept *sequent.Change
	s, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
		kept = c
		_, err := c.Append(plain(1))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*sequent.Change{"kept": kept, "zero": new(sequent.Change)} {
		if _, err := c.Append(plain(2)); sequent.CodeOf(err) != sequent.CodeInternal {
			t.Errorf("%s: Append: %v", name, err)
		}
		c.SetTitle("x")
		c.SetState(sequent.Cancelled)
		c.Abandon(time.Now())
		c.Conclude("x")
		c.SetLabel("a", "b")
		c.BeginIn("x", "y")
		c.ExpireAt(time.Now())
		if n := c.Session().Len(); n != 0 {
			t.Errorf("%s: its session has %d thoughts", name, n)
		}
	}
	now, err := e.Session(t.Context(), "s")
	if err != nil || fmt.Sprint(now.Header()) != fmt.Sprint(s.Header()) || len(now.Thoughts()) != 1 {
		t.Errorf("the session is %+v (%v), want %+v", now.Header(), err, s.Header())
	}
}

// What a change function reads is what it has written so far, and a session that
// it has read does not change with what it writes.
func TestSessionOfAChange(t *testing.T) {
	e := sequent.New(sequent.Config{})
	first := ensure(t, e, "s", plain(1))
	var before, between, after *sequent.Session
	s, err := e.Update(t.Context(), "s", func(c *sequent.Change) error {
		before = c.Session()
		if _, err := c.Append(on("b", from(1, plain(2)))); err != nil {
			return err
		}
		c.SetLabel("a", "1")
		between = c.Session()
		c.SetLabel("a", "2")
		c.SetTitle("other")
		if _, err := c.Append(plain(3)); err != nil {
			return err
		}
		after = c.Session()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		s        *sequent.Session
		length   int
		label    string
		title    string
		branches int
	}{
		{"before", before, 1, "", first.Title(), 0},
		{"between", between, 2, "1", first.Title(), 1},
		{"after", after, 3, "2", "other", 1},
		{"result", s, 3, "2", "other", 1},
		{"first", first, 1, "", first.Title(), 0},
	} {
		if tt.s.Len() != tt.length || len(slices.Collect(tt.s.All())) != tt.length || tt.s.Label("a") != tt.label ||
			tt.s.Title() != tt.title || len(tt.s.Branches()) != tt.branches {
			t.Errorf("%s: %+v with branches %q", tt.name, tt.s.Header(), tt.s.Branches())
		}
	}
	if before.Version() != 1 || s.Version() != 2 {
		t.Errorf("versions %d and %d", before.Version(), s.Version())
	}
}

// A setter that gets a bad value makes the change fail, whatever its function
// returns, and nothing of the change stays.
func TestBadValues(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(c *sequent.Change)
		code sequent.Code
	}{
		"state":      {func(c *sequent.Change) { c.SetState("open") }, sequent.CodeInvalidSession},
		"title":      {func(c *sequent.Change) { c.SetTitle("\xff") }, sequent.CodeInvalidThought},
		"conclusion": {func(c *sequent.Change) { c.Conclude("\xff") }, sequent.CodeInvalidThought},
		"label":      {func(c *sequent.Change) { c.SetLabel("\xff", "v") }, sequent.CodeInvalidSession},
		"value":      {func(c *sequent.Change) { c.SetLabel("k", "\xff") }, sequent.CodeInvalidThought},
		"scope":      {func(c *sequent.Change) { c.BeginIn("a\x00", "d") }, sequent.CodeInvalidSession},
		"dialect":    {func(c *sequent.Change) { c.BeginIn("", strings.Repeat("d", 129)) }, sequent.CodeLimitExceeded},
		"the first": {func(c *sequent.Change) {
			c.SetState("open")
			c.SetTitle("\xff")
			c.SetState(sequent.Completed)
		}, sequent.CodeInvalidSession},
	} {
		e := sequent.New(sequent.Config{})
		before := ensure(t, e, "s", plain(1))
		_, err := e.Update(t.Context(), "s", func(c *sequent.Change) error {
			_, err := c.Append(plain(2))
			tt.set(c)
			return err
		})
		if sequent.CodeOf(err) != tt.code {
			t.Errorf("%s: %v, want code %s", name, err, tt.code)
		}
		if s, err := e.Session(t.Context(), "s"); err != nil || s.Version() != before.Version() || s.Len() != 1 || s.Title() != before.Title() {
			t.Errorf("%s: the session is %+v (%v)", name, s.Header(), err)
		}
	}
	_, err := sequent.New(sequent.Config{}).Begin(t.Context(), "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "x", Labels: map[string]string{"a": "\xff"}})
		return err
	})
	if sequent.CodeOf(err) != sequent.CodeInvalidThought {
		t.Errorf("a thought's label: %v", err)
	}
}

// Labels that a program has, or reads, are not those of the log.
func TestLabelsAreCopied(t *testing.T) {
	e := sequent.New(sequent.Config{})
	mine := map[string]string{"a": "1"}
	s, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
		c.SetLabel("a", "1")
		got, err := c.Append(sequent.Draft{Number: 1, Labels: mine})
		got.Labels["a"] = "2"
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mine["a"] = "2"
	s.Header().Labels["a"] = "2"
	last, _ := s.Last()
	last.Labels["a"] = "2"
	for th := range s.All() {
		th.Labels["a"] = "2"
	}
	s.Path("")[0].Labels["a"] = "2"
	now, err := e.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if last, _ = now.Last(); last.Labels["a"] != "1" || now.Label("a") != "1" {
		t.Errorf("labels %v and %v", now.Header().Labels, last.Labels)
	}
	page, err := e.Sessions(t.Context(), sequent.Query{})
	if err != nil {
		t.Fatal(err)
	}
	page.Headers[0].Labels["a"] = "2"
	if now, _ = e.Session(t.Context(), "s"); now.Label("a") != "1" {
		t.Errorf("after a listing the label is %q", now.Label("a"))
	}
}

// A store that finds a session and has nothing of it, as the server of another program may, is
// not believed.
func TestNothingFound(t *testing.T) {
	e := sequent.New(sequent.Config{Store: emptyHanded{sequent.NewMemoryStore()}})
	if s, err := e.Session(t.Context(), "s"); err != nil || s.Fault() == nil {
		t.Errorf("got %v, %v; want a session with a fault", s, err)
	}
}

type emptyHanded struct{ sequent.Store }

func (emptyHanded) Load(context.Context, sequent.Key, sequent.Position) (sequent.Header, []sequent.Entry, error) {
	return sequent.Header{}, nil, nil
}

// A session has a limit in bytes, because its readers hold it in memory. Beyond it, thoughts
// and notes are refused, and the session can be closed.
func TestSessionBytes(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{Limits: sequent.Limits{Bytes: 1000}})
	add := func(text string) error {
		_, err := e.Append(t.Context(), "s", sequent.Draft{Text: text})
		return err
	}
	if err := add(strings.Repeat("x", 500)); err != nil {
		t.Fatal(err)
	}
	err := add(strings.Repeat("x", 500))
	if sequent.CodeOf(err) != sequent.CodeLimitExceeded || !strings.Contains(err.Error(), "the limit is 1000") {
		t.Errorf("a thought beyond the limit got %v", err)
	}
	s, err := e.Update(t.Context(), "s", func(c *sequent.Change) error {
		c.Conclude(strings.Repeat("y", 1000))
		c.SetState(sequent.Completed)
		return nil
	})
	if err != nil || s.Len() != 1 || s.State() != sequent.Completed {
		t.Fatalf("closing a full session: %v, %v", s, err)
	}
	small := sequent.New(sequent.Config{Limits: sequent.Limits{Bytes: 100}})
	if _, err := small.Restore(t.Context(), s.Header(), sequent.Entries(s.Thoughts())); sequent.CodeOf(err) != sequent.CodeLimitExceeded {
		t.Errorf("restoring a session beyond the limit got %v", err)
	}
}
