package command

import (
	"context"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/app/vaults"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/vault/index"
	"github.com/sequent-dev/sequent/words"
)

// searchNotes searches the notes of a vault.
func (p *program) searchNotes(ctx context.Context, dir string, q index.Query, limit int) error {
	return p.withVault(ctx, dir, app.OpenExisting, func(v *vaults.Vaults) error {
		const maxPageSize = 100
		m := p.newMeter()
		q.Page, q.PageSize = 1, min(limit, maxPageSize)
		found, err := v.Search(ctx, p.owner, q, m.stage)
		for err == nil && len(found.Hits) < min(limit, found.Total) {
			q.Page++
			var more index.Results
			if more, err = v.Search(ctx, p.owner, q, m.stage); len(more.Hits) == 0 {
				break // notes were deleted meanwhile
			}
			found.Hits = append(found.Hits, more.Hits...)
		}
		m.clear()
		if err != nil {
			return err
		}
		return p.printNotes(found, q, limit)
	})
}

func (p *program) printNotes(found index.Results, q index.Query, limit int) error {
	hits := found.Hits[:min(limit, len(found.Hits))]
	more := found.Total > len(hits)
	if p.json {
		return writeJSON(p.out, struct {
			Notes   []index.Hit `json:"notes"`
			Total   int         `json:"total"`
			More    bool        `json:"more"`
			Warning string      `json:"warning,omitempty"`
		}{append([]index.Hit{}, hits...), found.Total, more, found.Warning})
	}
	if found.Warning != "" {
		if err := p.print(draw.Beside(nil, found.Warning, draw.Tag, p.drawing())...); err != nil {
			return err
		}
	}
	if len(hits) == 0 {
		return p.printf("No notes match any of these words. Use word* to match words by their beginning.")
	}
	query, err := words.Parse(q.Text)
	if err != nil {
		query = words.Query{} // a query of links only has no words to mark
	}
	for i, h := range hits {
		if i > 0 {
			if err := p.printf(""); err != nil {
				return err
			}
		}
		if err := p.print(p.note(h, query)...); err != nil {
			return err
		}
	}
	if more {
		return p.printf("\n%d notes match. Pass --limit %d to show more.", found.Total, 2*limit)
	}
	return nil
}

// note draws a hit: the note's URI and title, and an excerpt with the words marked.
func (p *program) note(h index.Hit, q words.Query) []draw.Line {
	o := p.drawing()
	lines := []draw.Line{draw.Cut(draw.Line{
		{Text: draw.One(string(h.URI), o.Charset), Role: draw.Number},
		{Text: "  " + draw.One(h.Title, o.Charset), Role: draw.Title},
	}, o)}
	const indentation = 2
	piece, at := words.Excerpt(h.Snippet, q, 2*o.Width)
	return append(lines, draw.Marked(piece, spans(at), o, indentation)...)
}
