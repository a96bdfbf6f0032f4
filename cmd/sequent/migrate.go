package main

import (
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
)

// A jsonFormat is the format of a store.
type jsonFormat struct {
	Store    string `json:"store"`
	Found    int    `json:"found"`
	Format   int    `json:"format"`
	Latest   int    `json:"latest"`
	Migrated bool   `json:"migrated"`
	Current  bool   `json:"current"`
}

func (p *program) migrate() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring a store to the format of this program, or make one",
		Long: `Bring a store to the format of this program, and make it if there is none. Every command does so when
it opens a store; this one does nothing else, for a release that wants it done before servers start.
Of several at once one works and the others wait. What is recorded stays, and a store of a newer
program is refused and not touched.

With --check nothing is changed, and the exit code is 1 if there is something to do.

With --json: {"store", "found", "format", "latest", "migrated", "current"}; found is the format it had,
0 for none.`,
		Example: "sequent migrate --store postgres://sequent@db/sequent\n\n# is there anything to do?\nsequent migrate --check",
		Args:    arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			look := app.Migrate
			if check {
				look = app.FormatOf
			}
			f, err := look(c.Context(), p.config())
			if err != nil {
				return err
			}
			out := jsonFormat{Store: f.Place.String(), Found: f.Have, Format: f.Want, Latest: f.Want, Migrated: f.Have != f.Want, Current: true}
			if check {
				out.Format, out.Migrated, out.Current = f.Have, false, f.Have == f.Want
			}
			if err := p.tellFormat(out); err != nil {
				return err
			}
			if !out.Current {
				return errQuiet
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "change nothing; exit with 1 if the store is not up to date")
	p.asJSON(c)
	return c
}

func (p *program) tellFormat(f jsonFormat) error {
	switch {
	case p.json:
		return writeJSON(p.out, f)
	case f.Migrated && f.Found == 0:
		return p.say("%s is made, with format %d.", f.Store, f.Format)
	case f.Migrated:
		return p.say("%s is brought from format %d to %d.", f.Store, f.Found, f.Format)
	case f.Current:
		return p.say("%s has format %d and is up to date.", f.Store, f.Format)
	case f.Found == 0:
		return p.say("%s is not there yet; sequent migrate makes it, with format %d.", f.Store, f.Latest)
	}
	return p.say("%s has format %d; sequent migrate brings it to %d.", f.Store, f.Found, f.Latest)
}
