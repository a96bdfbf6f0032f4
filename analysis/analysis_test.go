package analysis_test

import (
	"context"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
)

// first is the day 0 of the corpus, a whole day before its last session.
var first = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// record records the sessions of testdata/corpus.txtar. It returns the answers.
func record(t *testing.T) (e *sequent.Engine, want []string) {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/corpus.txtar")
	if err != nil {
		t.Fatal(err)
	}
	now := first
	e = sequent.New(sequent.Config{Now: func() time.Time { return now }})
	for _, f := range ar.Files {
		lines := strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		if f.Name == "want" {
			want = lines
			continue
		}
		begun := first
		for _, line := range lines {
			verb, rest, _ := strings.Cut(line, " ")
			var change func(c *sequent.Change) error
			switch verb {
			case "day":
				begun = first.AddDate(0, 0, number(t, rest))
				continue
			case "state":
				change = func(c *sequent.Change) error { c.SetState(sequent.State(rest)); return nil }
			case "reject":
				change = func(c *sequent.Change) error { return c.Decide(rest, sequent.Rejected) }
			case "note":
				kind, about, _ := strings.Cut(rest, " ")
				seq, text, _ := strings.Cut(about, " ")
				change = func(c *sequent.Change) error {
					return c.AddNote(sequent.Note{Kind: sequent.NoteKind(kind), Seq: number(t, seq), Text: text})
				}
			default:
				now = begun.Add(time.Duration(number(t, verb)) * time.Minute)
				change = func(c *sequent.Change) error {
					_, err := c.Append(draft(t, rest))
					return err
				}
			}
			if _, err := e.Ensure(t.Context(), sequent.ID(f.Name), change); err != nil {
				t.Fatalf("%s: %s: %v", f.Name, line, err)
			}
		}
	}
	return e, want
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// draft parses "branch#3<2. Text" and "4~3 Text".
func draft(t *testing.T, text string) sequent.Draft {
	t.Helper()
	where, text, _ := strings.Cut(text, " ")
	d := sequent.Draft{Text: text}
	if s, ok := strings.CutSuffix(where, "."); ok {
		where, d.Final = s, true
	}
	if branch, rest, ok := strings.Cut(where, "#"); ok {
		d.Branch, where = branch, rest
	}
	if n, origin, ok := strings.Cut(where, "<"); ok {
		where, d.From = n, sequent.To(number(t, origin))
	}
	if n, old, ok := strings.Cut(where, "~"); ok {
		where, d.Revision, d.Revises = n, true, sequent.To(number(t, old))
	}
	d.Number = number(t, where)
	d.Total = d.Number
	return d
}

// findings returns a report in the form of the answers.
func findings(r *analysis.Report) (all []string) {
	branch := regexp.MustCompile(`\(branch (\S+) has no verdict\)$`)
	of := func(kind string) []analysis.Finding { return section(r, kind).Findings }
	for _, f := range of("left") {
		line := "left " + string(f.Parts[0].Session)
		if m := branch.FindStringSubmatch(f.Title); m != nil {
			line += " " + m[1]
		}
		if f.Parts[0].Says == "asked last" {
			line += " " + f.Parts[0].Text
		}
		all = append(all, line)
	}
	for _, f := range of("revised") {
		by := regexp.MustCompile(`#(at-upload|on-demand)#`).ReplaceAllString(f.Parts[1].Ref, "#")
		all = append(all, strings.Join([]string{"revised", string(f.Parts[0].Session), f.Parts[1].Says, by}, " "))
	}
	for _, f := range of("assumptions") {
		line := []string{"assumption"}
		for _, p := range f.Parts {
			line = append(line, p.Ref)
		}
		all = append(all, strings.Join(line, " "))
	}
	for _, f := range of("problems") {
		line := []string{"problem"}
		for _, p := range f.Parts {
			if p.Says == "was" {
				line = append(line, string(p.Session))
			}
		}
		all = append(all, strings.Join(line, " "))
	}
	return all
}

func section(r *analysis.Report, kind string) analysis.Section {
	for _, s := range r.Sections {
		if s.Kind == kind {
			return s
		}
	}
	return analysis.Section{}
}

// TestCorpus checks all findings, and tells how many of them are right.
func TestCorpus(t *testing.T) {
	e, want := record(t)
	r, err := analysis.Run(t.Context(), e, analysis.Query{})
	if err != nil {
		t.Fatal(err)
	}
	got := findings(r)
	right := 0
	for _, g := range got {
		if slices.Contains(want, g) {
			right++
		} else {
			t.Errorf("found, and not in the answers: %s", g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("not found: %s", w)
		}
	}
	t.Logf("precision %d of %d, recall %d of %d", right, len(got), right, len(want))
	if c := r.Counts; c.Sessions != 14 || c.Thoughts != 53 || c.Branches != 3 || c.Revisions != 1 || c.Notes != 1 {
		t.Errorf("counts are %+v", c)
	}
}

// The fields of a query select findings, and not what they are compared with.
func TestQuery(t *testing.T) {
	e, _ := record(t)
	for _, tt := range []struct {
		query analysis.Query
		want  string
	}{
		{analysis.Query{Text: "thumbnails"}, "revised 4m6n8p0q2r4s rejected by a decision 4m6n8p0q2r4s#4"},
		{analysis.Query{Text: "nosuchword"}, ""},
		{analysis.Query{Since: first.AddDate(0, 0, 13)}, "left 5h7j9k1m3n5p\nrevised 7w9x1y3z5a7b revised by a later thought 7w9x1y3z5a7b#4"},
	} {
		r, err := analysis.Run(t.Context(), e, tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(findings(r), "\n"); got != tt.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", tt.query, got, tt.want)
		}
	}
	r, err := analysis.Run(t.Context(), e, analysis.Query{Limit: 1})
	left, revised := section(r, "left"), section(r, "revised")
	if err != nil || len(left.Findings) != 1 || left.More != 3 || len(revised.Findings) != 1 || revised.More != 4 || left.Findings[0].Parts[0].Session != "5h7j9k1m3n5p" {
		t.Errorf("with a limit: %+v, %v", r, err)
	}
	if r, err = analysis.Run(t.Context(), e, analysis.Query{Text: "thumbnails"}); err != nil || r.Counts.Sessions != 1 || r.Counts.Thoughts != 5 {
		t.Errorf("counts of one session: %+v, %v", r.Counts, err)
	}
}

// Sessions of other projects and owners are not looked at.
func TestScope(t *testing.T) {
	e := sequent.New(sequent.Config{Now: func() time.Time { return first }})
	begin := func(e *sequent.Engine, project string, id sequent.ID, text string) {
		ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin { return sequent.Origin{Project: project} })
		if _, err := e.Append(ctx, id, sequent.Draft{Number: 1, Text: text, Final: true}); err != nil {
			t.Fatal(err)
		}
	}
	begin(e, "shop", "shop-0001", "The importer loses rows with empty names.")
	begin(e, "blog", "blog-0001", "The importer loses rows with empty names. shop-0001 was wrong.")
	begin(e.Owned("kim"), "shop", "kims-0001", "The importer loses rows with empty names. shop-0001 was wrong.")
	for _, tt := range []struct {
		engine   *sequent.Engine
		query    analysis.Query
		sessions int
		problems int
	}{
		{e, analysis.Query{Project: "shop"}, 1, 0}, {e, analysis.Query{}, 2, 1},
		{e.Owned("kim"), analysis.Query{}, 1, 0}, {e, analysis.Query{AllOwners: true}, 3, 1},
	} {
		r, err := analysis.Run(t.Context(), tt.engine, tt.query)
		if err != nil || r.Counts.Sessions != tt.sessions || len(section(r, "problems").Findings) != tt.problems || len(section(r, "revised").Findings) != 0 {
			t.Errorf("%+v: %+v, %v", tt.query, r, err)
		}
		want := r.Counts
		if n, err := analysis.Count(t.Context(), tt.engine, tt.query); err != nil || !reflect.DeepEqual(n, want) {
			t.Errorf("%+v: Count = %+v, %v; want %+v", tt.query, n, err, want)
		}
		if tt.problems > 0 && len(section(r, "problems").Findings[0].Parts) != 2 {
			t.Errorf("%+v: owners are mixed: %+v", tt.query, r.Sections)
		}
	}
}

// TestMaxBytes reads the latest sessions only, and ends for a caller that has left.
func TestMaxBytes(t *testing.T) {
	t.Parallel()
	e, _ := record(t)
	all, err := analysis.Run(t.Context(), e, analysis.Query{})
	if err != nil {
		t.Fatal(err)
	}
	some, err := analysis.Run(t.Context(), e, analysis.Query{MaxBytes: 2000})
	if err != nil || some.Counts.Sessions == 0 || some.Counts.Sessions >= all.Counts.Sessions || !strings.Contains(some.Notice, "are left out") {
		t.Errorf("%d of %d sessions, notice %q, %v", some.Counts.Sessions, all.Counts.Sessions, some.Notice, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := analysis.Run(ctx, e, analysis.Query{}); err == nil {
		t.Errorf("for a caller that has left: %+v", r)
	}
}
