package sequent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// story records thoughts, written as "number text", "branch:number text", and with
// (revises N), (from N), (final), (chooses LINE) and (rejects LINE) behind them.
func story(t *testing.T, e *sequent.Engine, id sequent.ID, lines ...string) *sequent.Session {
	t.Helper()
	var s *sequent.Session
	for _, line := range lines {
		var err error
		s, err = e.Ensure(t.Context(), id, func(c *sequent.Change) error {
			d := sequent.Draft{}
			text, options, _ := strings.Cut(line, " (")
			place, words, _ := strings.Cut(text, " ")
			if branch, number, ok := strings.Cut(place, ":"); ok {
				d.Branch, place = branch, number
			}
			fmt.Sscan(place, &d.Number)
			d.Text = words
			decisions := make(map[string]sequent.Verdict)
			for option := range strings.SplitSeq(strings.TrimSuffix(options, ")"), ") (") {
				name, value, _ := strings.Cut(option, " ")
				n := 0
				fmt.Sscan(value, &n)
				switch name {
				case "revises":
					d.Revises, d.Revision = sequent.To(n), true
				case "from":
					d.From = sequent.To(n)
				case "final":
					d.Final = true
				case "chooses":
					decisions[value] = sequent.Chosen
				case "rejects":
					decisions[value] = sequent.Rejected
				}
			}
			if _, err := c.Append(d); err != nil {
				return err
			}
			for label, v := range decisions {
				if label == "main" {
					label = ""
				}
				if err := c.Decide(label, v); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return s
}

// standings writes the standings as "1 superseded by 3, 2 current".
func standings(s *sequent.Session) string {
	var all []string
	for i, st := range s.Standings() {
		text := fmt.Sprint(i+1, " ", st.State)
		if st.By > 0 {
			text += fmt.Sprint(" by ", st.By)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestStandings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"none":                       {nil, ""},
		"plain":                      {[]string{"1 a", "2 b"}, "1 current, 2 current"},
		"completed":                  {[]string{"1 a", "2 b (final)"}, "1 current, 2 concluded"},
		"revised":                    {[]string{"1 a", "2 b", "3 c (revises 1)"}, "1 superseded by 3, 2 current, 3 current"},
		"revised twice":              {[]string{"1 a", "2 b (revises 1)", "3 c (revises 2)"}, "1 superseded by 3, 2 superseded by 3, 3 current"},
		"branch open":                {[]string{"1 a", "x:2 b (from 1)"}, "1 current, 2 current"},
		"completed on main":          {[]string{"1 a", "x:2 b (from 1)", "2 c (final)"}, "1 current, 2 undecided, 3 concluded"},
		"completed on branch":        {[]string{"1 a", "2 m", "x:2 b (from 1)", "x:3 c (final)"}, "1 current, 2 undecided, 3 current, 4 concluded"},
		"rejected":                   {[]string{"1 a", "x:2 b (from 1)", "2 no (rejects x)"}, "1 current, 2 rejected, 3 current"},
		"chosen":                     {[]string{"1 a", "x:2 b (from 1)", "y:2 c (from 1)", "2 x it is (chooses x) (final)"}, "1 current, 2 current, 3 undecided, 4 concluded"},
		"rejected, then chosen":      {[]string{"1 a", "x:2 b (from 1)", "2 no (rejects x)", "3 yes (chooses x)"}, "1 current, 2 current, 3 current, 4 current"},
		"a branch revises, open":     {[]string{"1 a", "x:2 b (from 1) (revises 1)"}, "1 current, 2 current"},
		"a branch revises, chosen":   {[]string{"1 a", "x:2 b (from 1) (revises 1)", "2 c (chooses x)"}, "1 superseded by 2, 2 current, 3 current"},
		"a branch revises, rejected": {[]string{"1 a", "x:2 b (from 1) (revises 1)", "2 c (rejects x)"}, "1 current, 2 rejected, 3 current"},
		"a branch of a rejected branch": {
			[]string{"1 a", "x:2 b (from 1)", "x:3 c", "y:3 d (from 2)", "y:4 e", "2 f (rejects x) (chooses y)"},
			"1 current, 2 current, 3 rejected, 4 current, 5 current, 6 current",
		},
	} {
		e := sequent.New(sequent.Config{})
		s := new(sequent.Session)
		if len(c.lines) > 0 {
			s = story(t, e, "s", c.lines...)
		}
		if got := standings(s); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	story(t, e, "s", "1 a", "2 b")
	note := func(n sequent.Note) error {
		_, err := e.Update(t.Context(), "s", func(c *sequent.Change) error { return c.AddNote(n) })
		return err
	}
	for _, bad := range []sequent.Note{
		{Seq: 0, Text: "x"}, {Seq: 3, Text: "x"}, {Seq: 1}, {Seq: 1, Kind: "odd", Text: "x"},
		{Seq: 1, Text: "\xff"}, {Seq: 1, Text: "x", From: "a\nb"}, {Seq: 1, Text: strings.Repeat("x", 64<<10+1)},
	} {
		if err := note(bad); err == nil {
			t.Errorf("a note %+.40v was recorded", bad)
		}
	}
	if err := note(sequent.Note{Seq: 1, Kind: sequent.Wrong, Text: "the log says otherwise", From: "Kim"}); err != nil {
		t.Fatal(err)
	}
	s := story(t, e, "s", "3 c")
	if got, want := standings(s), "1 disputed, 2 current, 3 current"; got != want {
		t.Errorf("after wrong: %s, want %s", got, want)
	}
	if n := s.Notes(); len(n) != 1 || n[0].After != 2 || n[0].Text != "the log says otherwise" || n[0].From != "Kim" || n[0].At.IsZero() {
		t.Errorf("notes are %+v", n)
	}
	if n := s.Upto(2).Notes(); len(n) != 0 {
		t.Errorf("after two thoughts the session had the notes %+v", n)
	}
	if s.Len() != 3 || s.State() != sequent.Active {
		t.Errorf("the session has %d thoughts and is %s", s.Len(), s.State())
	}
	if err := note(sequent.Note{Seq: 1, Kind: sequent.Approval}); err != nil {
		t.Fatal(err)
	}
	if err := note(sequent.Note{Seq: 2, Kind: sequent.Wrong}); err != nil {
		t.Fatal(err)
	}
	s = story(t, e, "s", "4 d (revises 2)")
	if got, want := standings(s), "1 current, 2 superseded by 4, 3 current, 4 current"; got != want {
		t.Errorf("after approval and revision: %s, want %s", got, want)
	}
	if v := verify(t, e, "s"); v.Fault != nil || v.Entries != 7 {
		t.Errorf("Verify = %+v", v)
	}
}

// TestMarksAreRead records notes and decisions with one engine and reads them with
// another, whole and piece by piece.
func TestMarksAreRead(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	writer, reader := sequent.New(sequent.Config{Store: store}), sequent.New(sequent.Config{Store: store})
	var want *sequent.Session
	for step, record := range []func(c *sequent.Change) error{
		add(sequent.Draft{Text: "a"}),
		func(c *sequent.Change) error {
			return errors.Join(c.AddNote(sequent.Note{Seq: 1, Text: "before"}), add(sequent.Draft{Text: "b", Branch: "x"})(c),
				c.Decide("x", sequent.Chosen), c.AddNote(sequent.Note{Seq: 2, Text: "after"}))
		},
		func(c *sequent.Change) error { return c.AddNote(sequent.Note{Seq: 2, Kind: sequent.Wrong}) },
	} {
		var err error
		if want, err = writer.Ensure(t.Context(), "s", record); err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]*sequent.Engine{"known": reader, "new": sequent.New(sequent.Config{Store: store})} {
			got, err := e.Session(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if g, w := fmt.Sprint(got.Notes(), got.Decisions()), fmt.Sprint(want.Notes(), want.Decisions()); g != w {
				t.Errorf("step %d, %s: %s, want %s", step, name, g, w)
			}
		}
	}
	if got, want := fmt.Sprint(want.Notes()[0].After, want.Notes()[1].After, want.Decisions()), "1 2 [{2 x chosen}]"; got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
	// What a refused change has recorded is gone.
	if _, err := writer.Update(t.Context(), "s", func(c *sequent.Change) error {
		_ = c.AddNote(sequent.Note{Seq: 1, Text: "no"})
		return c.Decide("y", sequent.Chosen)
	}); sequent.CodeOf(err) != sequent.CodeInvalidThought {
		t.Errorf("a decision about a line that does not exist: %v", err)
	}
	if s, _ := writer.Session(t.Context(), "s"); len(s.Notes()) != 3 {
		t.Errorf("the session has %d notes, want 3", len(s.Notes()))
	}
}

// The projects of sessions are a test of storetest.
func TestOrigin(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	from := sequent.Origin{Client: "claude\u202e-code\n", ClientVersion: "2.1", Project: "p1", Commit: strings.Repeat("é", 2000)}
	ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin { return from })
	s, err := e.Begin(ctx, "one", add(sequent.Draft{Text: "the pool is empty"}))
	if err != nil {
		t.Fatal(err)
	}
	want := sequent.Origin{Client: "claude-code", ClientVersion: "2.1", Project: "p1", Commit: strings.Repeat("é", 1024)}
	if s.Origin() != want {
		t.Errorf("the origin is %+v, want %+v", s.Origin(), want)
	}
	if v := verify(t, e, "one"); v.Fault != nil || v.Entries != 2 {
		t.Errorf("Verify = %+v", v)
	}
}

// TestHitsTellTheirStanding has the case of the demo: a thought that was revised must
// not be found as if it held.
func TestHitsTellTheirStanding(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	story(t, e, "s", "1 Suspect the database: its load rises.", "2 Look at the database load.",
		"3 The pool is too small, the database is idle. (revises 1)", "x:2 Restart the database. (from 1)", "4 The pool it is. (final)")
	hits, err := e.Search(t.Context(), sequent.SearchQuery{Text: "database"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range hits.Hits {
		text := fmt.Sprint(h.Thought.Seq, " ", h.Standing.State, " ", h.State)
		if h.Instead != nil {
			text += ": " + h.Instead.Text
		}
		got = append(got, text)
	}
	slices.Sort(got)
	want := "1 superseded completed: The pool is too small, the database is idle.|2 current completed|4 undecided completed"
	alternative := "2 current completed|3 current completed|4 undecided completed" // if the revision is the better hit
	if g := strings.Join(got, "|"); g != want && g != alternative {
		t.Errorf("found %s, want %s", g, want)
	}
}

// No credentials of a project are recorded.
func TestContextCredentials(t *testing.T) {
	for project, want := range map[string]string{
		"https://h/a.git": "https://h/a.git",
		"https://alice:s3cret@h:8443/a?token=s3cret#s3cret": "https://h:8443/a",
		"https://s3cret@h/a/@b":                             "https://h/a/@b",
		"https://alice:s3cret/s3cret@h/a":                   "",
		"https://alice:s3@cret@h/a":                         "https://h/a",
		" https://s3cret@h\n":                               "https://h",
		"https://h?token=s3cret":                            "https://h",
		"https://[::1]:80/a":                                "https://[::1]:80/a",
		"ssh://git@h/a":                                     "ssh://h/a",
		"git@github.com:a/b.git":                            "github.com:a/b.git",
		"/home/me@work:1/a":                                 "/home/me@work:1/a",
		`C:\me@work`:                                        `C:\me@work`,
		"app":                                               "app",
		"me@app":                                            "me@app",
		"team:app":                                          "team:app",
		"":                                                  "",
	} {
		ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin { return sequent.Origin{Project: project} })
		if got := sequent.OriginOf(ctx).Project; got != want {
			t.Errorf("%q is recorded as %q, want %q", project, got, want)
		}
	}
}
