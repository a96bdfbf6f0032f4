package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) usage() *cobra.Command {
	c := &cobra.Command{
		Use:   "usage",
		Short: "Show how much each owner stores",
		Long: `Show the sessions, thoughts and bytes of each owner in the store, and how many calls a quota has refused.
Owners are the subjects of tokens; your own sessions have none. The bytes are those of the recorded text
with about 100 bytes per thought; the files of the store are larger by their indexes.

sequent serve sets quotas with --quota-bytes, --quota-sessions and --quota-notes. A server stores its count
of refusals once a second and when it ends.

--json prints {"owners": [{owner, sessions, thoughts, bytes, refused}]}.`,
		Example: "sequent usage\n\n# the owners with more than 1 GiB\nsequent usage --json | jq -r '.owners[] | select(.bytes > 1073741824).owner'",
		Args:    arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withStore(c.Context(), func(a *app.App) error {
				owners, err := a.Engine.Usage(c.Context())
				if err != nil {
					return err
				}
				if len(owners) == 0 && p.owner != "" && !p.json {
					return p.printNoSessions(c.Context(), a)
				}
				if p.json {
					type row struct {
						Owner    string `json:"owner"`
						Sessions int    `json:"sessions"`
						Thoughts int    `json:"thoughts"`
						Bytes    int64  `json:"bytes"`
						Refused  int64  `json:"refused"`
					}
					rows := []row{}
					for _, u := range owners {
						rows = append(rows, row{u.Owner, u.Sessions, u.Thoughts, u.Bytes, u.Refused})
					}
					return writeJSON(p.out, struct {
						Owners []row `json:"owners"`
					}{rows})
				}
				rows := [][]string{{"SESSIONS", "THOUGHTS", "BYTES", "REFUSED", "OWNER"}}
				for _, u := range owners {
					owner := draw.One(u.Owner, p.charset())
					if u.Owner == "" {
						owner = "(you)"
					}
					rows = append(rows, []string{
						strconv.Itoa(u.Sessions), strconv.Itoa(u.Thoughts), strconv.FormatInt(u.Bytes, 10),
						strconv.FormatInt(u.Refused, 10), owner,
					})
				}
				return p.print(alignRight(rows)...)
			})
		},
	}
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	return c
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
