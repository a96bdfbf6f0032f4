package command

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/textsearch"
	"github.com/sequent-dev/sequent/vault/index"
)

// A foundThoughts is what sequent search found.
type foundThoughts struct {
	Hits    []jsonHit `json:"hits"`
	More    bool      `json:"more"`
	Partial bool      `json:"partial"`             // no thought has all words
	Others  int       `json:"elsewhere,omitempty"` // sessions of other projects

	notice string
	query  textsearch.Query
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

	hit sequent.Hit
}

func runSearch(p *program, ctx context.Context) (result, error) {
	// SEQUENT_VAULT configures servers; only the flag selects notes.
	if p.given("vault") {
		if p.inSession != "" || p.server != "" {
			return nil, usagef("--vault excludes --session and --server")
		}
		return p.searchNotes(ctx)
	}
	engine := p.engine
	q := sequent.SearchQuery{Text: strings.Join(p.args, " "), Limit: p.limit, AllOwners: p.allOwners, Project: p.inProject(), Distinct: true}
	if p.inSession != "" {
		s, e, err := p.session(ctx, []string{p.inSession})
		if err != nil {
			return nil, err
		}
		engine, q = e, sequent.SearchQuery{Text: q.Text, Limit: q.Limit, Session: s.ID()}
	}
	hits, err := engine.Search(ctx, q)
	if err == nil && len(hits.Hits) == 0 && p.owner != "" {
		_, err = p.latest(ctx, p.engine) // an owner may be misspelt
	}
	if err != nil {
		return nil, err
	}
	f := &foundThoughts{Hits: []jsonHit{}, More: hits.Next != "", Partial: hits.Partial, notice: hits.Notice()}
	if f.Others, err = p.others(ctx, sequent.Query{AllOwners: q.AllOwners, Project: q.Project}); err != nil {
		return nil, err
	}
	if f.query, err = textsearch.Parse(q.Text); err != nil {
		return nil, err
	}
	for _, h := range hits.Hits {
		j := jsonHit{
			jsonThought: jsonThought{h.Key.ID, h.Thought}, Title: h.Title, Score: h.Score, Owner: h.Key.Owner,
			State: h.State, Standing: h.Standing.State, hit: h,
		}
		if h.Fault != nil {
			j.Fault = h.Fault.String()
		}
		if h.Instead != nil {
			j.Instead = &jsonThought{h.Key.ID, *h.Instead}
		}
		if q.Distinct {
			const most = 200 // bytes of each text
			s, err := engine.Owned(h.Key.Owner).Session(ctx, h.Key.ID)
			if err == nil {
				j.Gist = brief.About(s, h.Holding().Seq, most)
			} else if !errors.Is(err, sequent.ErrNotFound) { // deleted meanwhile
				return nil, err
			}
		}
		f.Hits = append(f.Hits, j)
	}
	return f, nil
}

func (f *foundThoughts) text(pg *page) {
	if len(f.Hits) == 0 {
		pg.say("%s", cmp.Or(f.notice, "No thoughts match these words."))
	} else if f.notice != "" {
		pg.say("%s", f.notice)
	}
	var altered []string
	for i, h := range f.Hits {
		if i > 0 {
			pg.add(nil)
		}
		pg.hit(h, f.query)
		if h.Fault != "" {
			altered = append(altered, string(h.Session))
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
		pg.say("Not searched: %s in other projects. Pass --all-projects to search all.", printable.Count(f.Others, "session", "sessions"))
	}
}

// hit draws a found thought: its session and number, whether it holds, and an excerpt
// with the words marked, and what the session is about. Of a thought that is superseded it shows what holds
// instead.
func (pg *page) hit(j jsonHit, q textsearch.Query) {
	h := j.hit
	t, standing := *h.Holding(), string(h.Standing.State)
	switch h.Standing.State {
	case sequent.Current:
		standing = ""
	case sequent.Superseded:
		standing = "replaces " + brief.Name(h.Thought) + ", which matches"
	}
	where := draw.Line{{Text: printable.Line(string(h.Key.ID)) + "  ", Role: draw.Number}, {Text: draw.NumberOf(t), Role: draw.Meta}}
	if t.Branch != "" {
		where = append(where, draw.Span{Text: " " + printable.Line(t.Branch), Role: draw.Label, Lane: 1})
	}
	owner := ""
	if pg.allOwners {
		owner = h.Key.Owner
	}
	for _, fact := range []string{standing, owner} {
		if fact != "" {
			where = append(where, draw.Span{Text: "  " + printable.Line(fact), Role: draw.Meta})
		}
	}
	pg.add(draw.Cut(append(where, draw.Span{Text: "  " + printable.Line(h.Title), Role: draw.Title}), pg.Options))
	pg.excerpt(t.Text, q)
	j.Asked = "" // the title
	for _, line := range j.Lines() {
		pg.add(draw.Cut(draw.Line{{Text: "  " + printable.Line(line), Role: draw.Meta}}, pg.Options))
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

// A foundNotes is what sequent search --vault found.
type foundNotes struct {
	Notes   []index.Hit `json:"notes"`
	Total   int         `json:"total"`
	More    bool        `json:"more"`
	Warning string      `json:"warning,omitempty"`

	query textsearch.Query
}

// searchNotes searches the notes of a vault.
func (p *program) searchNotes(ctx context.Context) (result, error) {
	v, err := p.openVault(ctx)
	if err != nil {
		return nil, err
	}
	m := p.newMeter()
	defer m.clear()
	text := strings.Join(p.args, " ")
	found, err := v.Index.Search(ctx, index.Query{Text: text, Page: 1, PageSize: min(p.limit, maxNotes)}, m.stage)
	n := &foundNotes{append([]index.Hit{}, found.Hits...), found.Total, found.Total > len(found.Hits), found.Warning, textsearch.Query{}}
	n.query, _ = textsearch.Parse(text) // a query of links only has no words to mark
	return n, err
}

// maxNotes is how many notes a search finds at most.
const maxNotes = 100

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
			{Text: printable.Line(string(h.URI)), Role: draw.Number},
			{Text: "  " + printable.Line(h.Title), Role: draw.Title},
		}, pg.Options))
		pg.excerpt(h.Snippet, n.query)
	}
	if n.More {
		pg.say("\n%d notes match. Pass --limit %d to show more.", n.Total, min(2*pg.limit, maxNotes))
	}
}
