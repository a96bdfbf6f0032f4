package command

import (
	"context"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// bytesPerToken is the ratio that [sequent.Tokens] uses.
const bytesPerToken = 4

// A told is what a session came to.
type told struct {
	Session sequent.ID    `json:"session"`
	State   sequent.State `json:"state"`
	Brief   string        `json:"brief"`
	Left    int           `json:"left"` // thoughts that hold and are not in it whole

	owner string
}

func runBrief(p *program, ctx context.Context) (result, error) {
	s, _, err := p.session(ctx, p.args)
	if err != nil {
		return nil, err
	}
	text, left, err := brief.Write(ctx, s, p.tokens*bytesPerToken)
	return &told{s.ID(), s.State(), text, left, s.Owner()}, err
}

func (t *told) text(pg *page) {
	pg.prose(t.Brief)
	if t.Left > 0 {
		pg.say("%s not shown whole: %s",
			printable.Count(t.Left, "thought", "thoughts"), pg.nextFor(t.owner, "show", string(t.Session), "--view", "effective"))
	}
}

// prose adds what package brief has written. On a terminal it is wrapped at words, and code stays as
// it is.
func (pg *page) prose(text string) {
	fenced := !pg.tabular()
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
		if fence || fenced || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") {
			pg.add(draw.Line{{Text: strings.Join(draw.Lines(line), "")}})
		} else {
			pg.beside("", line, draw.Text)
		}
		fenced = fenced != (fence && pg.tabular())
	}
}
