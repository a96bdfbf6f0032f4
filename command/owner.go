package command

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) owners() *cobra.Command {
	c := &cobra.Command{
		Use:   "owners",
		Short: "Show who has sessions, how many, and when they last changed",
		Long: `Show the sessions, thoughts and bytes of each owner, when the last of the sessions changed, and how many
calls a quota has refused. Owners are the subjects of tokens; your own sessions have none. The bytes are
those of the recorded text with about 100 bytes per thought; the files of the store are larger by their
indexes.

sequent serve sets quotas with --quota-bytes, --quota-sessions and --quota-notes. A server stores its count
of refusals once a second and when it ends.

With --server the owners are those of a server. That needs a token with the scope admin; with another one,
--owner shows your own row.

--json prints {"owners": [{owner, sessions, thoughts, bytes, refused, updated}]}.`,
		Example: "sequent owners\n\n# the owners of a team's server\nSEQUENT_TOKEN=$(cat token) sequent owners --server https://think.example.com\n\n" +
			"# the owners with more than 1 GiB\nsequent owners --json | jq -r '.owners[] | select(.bytes > 1073741824).owner'",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			p.allOwners = p.owner == ""
			return p.withStore(c.Context(), func(a *app.App) error {
				owners, err := a.Engine.Usage(c.Context())
				switch {
				case err != nil:
					return err
				case p.json:
					return p.writeOwners(owners)
				case len(owners) == 0 && p.owner != "":
					return p.printNoSessions(c.Context(), a)
				case len(owners) == 0:
					return p.printBeginning()
				}
				return p.print(p.ownersTable(owners)...)
			})
		},
	}
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addServerFlag(c)
	return c
}

func (p *program) writeOwners(owners []sequent.Usage) error {
	type row struct {
		Owner    string    `json:"owner"`
		Sessions int       `json:"sessions"`
		Thoughts int       `json:"thoughts"`
		Bytes    int64     `json:"bytes"`
		Refused  int64     `json:"refused"`
		Updated  time.Time `json:"updated,omitzero"`
	}
	rows := []row{}
	for _, u := range owners {
		rows = append(rows, row(u))
	}
	return writeJSON(p.out, struct {
		Owners []row `json:"owners"`
	}{rows})
}

func (p *program) ownersTable(owners []sequent.Usage) []draw.Line {
	rows := [][]string{{"SESSIONS", "THOUGHTS", "BYTES", "REFUSED", "LAST SEEN", "OWNER"}}
	for _, u := range owners {
		seen := "never"
		switch {
		case u.Updated.IsZero():
		case p.tabular():
			seen = draw.Age(p.now().Sub(u.Updated))
		default:
			seen = u.Updated.Format(time.RFC3339)
		}
		rows = append(rows, []string{
			strconv.Itoa(u.Sessions), strconv.Itoa(u.Thoughts), strconv.FormatInt(u.Bytes, 10),
			strconv.FormatInt(u.Refused, 10), seen, draw.One(cmp.Or(u.Owner, p.nobody()), p.charset()),
		})
	}
	return alignRight(rows)
}

// nobody names the owner without a name: the local user of the store's machine.
func (p *program) nobody() string {
	if p.server != "" {
		return "(server)"
	}
	return "(you)"
}

// alignRight returns rows as lines. All columns but the last are aligned right.
func alignRight(rows [][]string) []draw.Line {
	last := len(rows[0]) - 1
	var lines []draw.Line
	for n, r := range rows {
		role := draw.Text
		if n == 0 {
			role = draw.Meta
		}
		var b strings.Builder
		for i, cell := range r[:last] {
			width := 0
			for _, other := range rows {
				width = max(width, len(other[i]))
			}
			b.WriteString(strings.Repeat(" ", width-len(cell)) + cell + "  ")
		}
		lines = append(lines, draw.Line{{Text: b.String() + r[last], Role: role}})
	}
	return lines
}
