package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/textsearch"
	"github.com/sequent-dev/sequent/vault/index"
)

func runSearch(p *program, ctx context.Context) (result, error) {
	// SEQUENT_VAULT configures servers; only the flag selects notes.
	if p.given("vault") {
		if p.inSession != "" || p.remote() {
			return nil, usagef("--vault excludes --session and --server")
		}
		return p.searchNotes(ctx)
	}
	for _, f := range []string{"mode", "folder", "tag"} {
		if p.given(f) {
			return nil, &usageError{msg: fmt.Sprintf("--%s requires --vault", f), fix: "pass the folder of notes with --vault DIR"}
		}
	}
	project, err := p.inProject()
	if err != nil {
		return nil, err
	}
	engine, text := p.engine, strings.Join(p.args, " ")
	q := sequent.SearchQuery{Text: text, Limit: p.limit, AllOwners: p.allOwners, Project: project, Distinct: true}
	if p.inSession != "" {
		found, err := p.refer(ctx, engine, []string{p.inSession})
		if err == nil {
			err = found.whole("--session")
		}
		if err != nil {
			return nil, err
		}
		engine, q = found.engine, sequent.SearchQuery{Text: text, Limit: p.limit, Session: found.session.ID()}
	}
	hits, err := engine.Search(ctx, q)
	if err == nil && len(hits.Hits) == 0 && p.owner != "" {
		_, err = p.latest(ctx, p.engine) // an owner may be misspelt
	}
	if err != nil {
		return nil, err
	}
	f := &foundThoughts{Hits: []jsonHit{}, More: hits.Next != "", Partial: hits.Partial, hits: hits}
	if f.Others, err = p.others(ctx, sequent.Query{AllOwners: q.AllOwners, Project: q.Project}); err != nil {
		return nil, err
	}
	if f.query, err = textsearch.Parse(q.Text); err != nil {
		return nil, err
	}
	for _, h := range hits.Hits {
		j := newJSONHit(h)
		if q.Distinct {
			if j.Gist, err = about(ctx, engine, h); err != nil {
				return nil, err
			}
		}
		f.Hits = append(f.Hits, j)
	}
	return f, nil
}

// about returns what the session of a hit is about, beside the hit; nothing if it was deleted meanwhile.
func about(ctx context.Context, e *sequent.Engine, h sequent.Hit) (brief.Gist, error) {
	const most = 200 // bytes of each text
	s, err := e.Owned(h.Key.Owner).Session(ctx, h.Key.ID)
	if errors.Is(err, sequent.ErrNotFound) {
		return brief.Gist{}, nil
	}
	if err != nil {
		return brief.Gist{}, err
	}
	return brief.About(s, h.Holding().Seq, most), nil
}

// A foundThoughts is what sequent search found.
type foundThoughts struct {
	Hits    []jsonHit `json:"hits"`
	More    bool      `json:"more"`
	Partial bool      `json:"partial"`             // no thought has all words
	Others  int       `json:"elsewhere,omitempty"` // sessions of other projects

	hits  sequent.Hits
	query textsearch.Query
}

// A jsonHit is a found thought in JSON output.
type jsonHit struct {
	jsonThought
	brief.Gist         // of the session, in a search of all
	Title      string  `json:"title"` // title of the session
	Score      float64 `json:"score"`
	Owner      string  `json:"owner,omitempty"` // of the session; empty for the local user

	State    sequent.State         `json:"state"` // of the session
	Standing sequent.StandingState `json:"standing"`
	Instead  *jsonThought          `json:"instead,omitempty"` // what holds instead of a thought that is superseded
	Fault    string                `json:"fault,omitempty"`   // in which way the session is not what was recorded
}

func newJSONHit(h sequent.Hit) jsonHit {
	j := jsonHit{newJSONThought(h.Key.ID, h.Thought), brief.Gist{}, h.Title, h.Score, h.Key.Owner, h.State, h.Standing.State, nil, ""}
	if h.Fault != nil {
		j.Fault = h.Fault.String()
	}
	if h.Instead != nil {
		j.Instead = new(newJSONThought(h.Key.ID, *h.Instead))
	}
	return j
}

func (f *foundThoughts) text(pg *page) {
	notice := f.hits.Notice()
	if len(f.Hits) == 0 {
		pg.say("%s", cmp.Or(notice, "No thoughts match these words."))
	} else if notice != "" {
		pg.say("%s", notice)
	}
	var altered []string
	for i, h := range f.hits.Hits {
		if i > 0 {
			pg.add(nil)
		}
		f.hit(pg, h, f.Hits[i].Gist)
		if h.Fault != nil {
			altered = append(altered, string(h.Key.ID))
		}
	}
	if f.More {
		pg.say("\nThere are more matches. Pass --limit %d to show more.", 2*pg.limit)
	}
	if len(f.Hits) > 0 && len(altered)+f.Others > 0 {
		pg.add(nil)
	}
	if len(altered) > 0 {
		pg.say("%s", pg.alteredNote(altered))
	}
	if f.Others > 0 {
		pg.say("Not searched: %s in other projects. Pass --all-projects to search all.", counted(f.Others))
	}
}

// hit draws a found thought: its session and number, whether it holds, and an excerpt
// with the words marked, and what the session is about. Of a thought that is superseded it shows what holds
// instead.
func (f *foundThoughts) hit(pg *page, h sequent.Hit, about brief.Gist) {
	t, standing := *h.Holding(), string(h.Standing.State)
	switch h.Standing.State {
	case sequent.Current:
		standing = ""
	case sequent.Superseded:
		standing = "replaces " + brief.Name(h.Thought) + ", which matches"
	}
	where := draw.Line{{Text: pg.one(string(h.Key.ID)) + "  ", Role: draw.Number}, {Text: draw.NumberOf(t), Role: draw.Meta}}
	if t.Branch != "" {
		where = append(where, draw.Span{Text: " " + pg.one(t.Branch), Role: draw.Label, Lane: 1})
	}
	owner := ""
	if pg.allOwners {
		owner = h.Key.Owner
	}
	for _, fact := range []string{standing, owner} {
		if fact != "" {
			where = append(where, draw.Span{Text: "  " + pg.one(fact), Role: draw.Meta})
		}
	}
	pg.add(draw.Cut(append(where, draw.Span{Text: "  " + pg.one(h.Title), Role: draw.Title}), pg.Options))
	pg.excerpt(t.Text, f.query)
	about.Asked = "" // the title
	for _, line := range about.Lines() {
		pg.add(draw.Cut(draw.Line{{Text: "  " + pg.one(line), Role: draw.Meta}}, pg.Options))
	}
}

// excerpt adds the part of a text that matches a query, with the words marked.
func (pg *page) excerpt(text string, q textsearch.Query) {
	piece, at := textsearch.Excerpt(printable.Text(text), q, 2*pg.Width)
	var marks [][2]int
	for _, r := range at {
		marks = append(marks, [2]int{r.Start, r.End})
	}
	pg.add(draw.Marked(piece, marks, pg.Options, 2)...)
}

// searchNotes searches the notes of a vault.
func (p *program) searchNotes(ctx context.Context) (result, error) {
	v, err := p.openVault(ctx)
	if err != nil {
		return nil, err
	}
	const maxPageSize = 100
	q := p.noteQuery
	q.Text, q.Page, q.PageSize = strings.Join(p.args, " "), 1, min(p.limit, maxPageSize)
	m := p.newMeter()
	defer m.clear()
	found, err := v.Index.Search(ctx, q, m.stage)
	for err == nil && len(found.Hits) < min(p.limit, found.Total) {
		q.Page++
		var more index.Results
		if more, err = v.Index.Search(ctx, q, m.stage); len(more.Hits) == 0 {
			break // notes were deleted meanwhile
		}
		found.Hits = append(found.Hits, more.Hits...)
	}
	hits := append([]index.Hit{}, found.Hits[:min(p.limit, len(found.Hits))]...)
	n := &foundNotes{hits, found.Total, found.Total > len(hits), found.Warning, textsearch.Query{}}
	n.query, _ = textsearch.Parse(q.Text) // a query of links only has no words to mark
	return n, err
}

// A foundNotes is what sequent search --vault found.
type foundNotes struct {
	Notes   []index.Hit `json:"notes"`
	Total   int         `json:"total"`
	More    bool        `json:"more"`
	Warning string      `json:"warning,omitempty"`

	query textsearch.Query
}

func (n *foundNotes) text(pg *page) {
	if n.Warning != "" {
		pg.beside("", n.Warning, draw.Tag)
	}
	if len(n.Notes) == 0 {
		pg.say("No notes match any of these words. Use word* to match words by their beginning.")
	}
	for i, h := range n.Notes {
		if i > 0 {
			pg.add(nil)
		}
		pg.add(draw.Cut(draw.Line{
			{Text: pg.one(string(h.URI)), Role: draw.Number},
			{Text: "  " + pg.one(h.Title), Role: draw.Title},
		}, pg.Options))
		pg.excerpt(h.Snippet, n.query)
	}
	if n.More {
		pg.say("\n%d notes match. Pass --limit %d to show more.", n.Total, 2*pg.limit)
	}
}
