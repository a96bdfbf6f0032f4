package command

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent/internal/printable"
)

// An ownerList is what each owner has.
type ownerList struct {
	Owners []ownerUsage `json:"owners"`
	hint   string       // where sessions are, if there are none here
}

type ownerUsage struct {
	Owner    string    `json:"owner"`
	Sessions int       `json:"sessions"`
	Thoughts int       `json:"thoughts"`
	Bytes    int64     `json:"bytes"`
	Updated  time.Time `json:"updated,omitzero"`
}

func runOwners(p *program, ctx context.Context) (result, error) {
	owners, err := p.engine.Usage(ctx)
	if err != nil {
		return nil, err
	}
	l := &ownerList{Owners: []ownerUsage{}}
	for _, u := range owners {
		l.Owners = append(l.Owners, ownerUsage(u))
	}
	if len(owners) == 0 {
		l.hint = p.whereSessionsAre(ctx)
	}
	return l, nil
}

func (l *ownerList) text(pg *page) {
	if len(l.Owners) == 0 {
		pg.say("No sessions. %s", sentence(l.hint))
		return
	}
	rows := [][]cell{{{text: "SESSIONS"}, {text: "THOUGHTS"}, {text: "BYTES"}, {text: "LAST SEEN"}, {text: "OWNER"}}}
	for _, u := range l.Owners {
		seen := "never"
		switch {
		case u.Updated.IsZero():
		case pg.tabular():
			seen = printable.Age(pg.now().Sub(u.Updated))
		default:
			seen = u.Updated.Format(time.RFC3339)
		}
		rows = append(rows, []cell{
			{text: strconv.Itoa(u.Sessions)}, {text: strconv.Itoa(u.Thoughts)}, {text: strconv.FormatInt(u.Bytes, 10)}, {text: seen},
			{text: pg.one(cmp.Or(u.Owner, pg.nobody()))},
		})
	}
	pg.table(rows)
}

// nobody names the owner without a name: the local user of the store's machine.
func (p *program) nobody() string {
	if p.server != "" {
		return "(server)"
	}
	return "(you)"
}
