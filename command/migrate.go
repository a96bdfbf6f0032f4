package command

import (
	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
)

// A jsonFormat is the format of a store in JSON output.
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
		Short: "Create a store or migrate it to the current format",
		Long: `Create a store if it does not exist, or migrate it to the format of this program. All commands do this
when they open a store; run sequent migrate to do it before servers of a new release start. Concurrent
runs wait for each other. A migration keeps all sessions. A store of a newer program is refused and left
unchanged.

--check changes nothing; the exit code is 1 if the store needs a migration.

--json prints {"store", "found", "format", "latest", "migrated", "current"}; found is the format before,
or 0 if there was no store.`,
		Example: "sequent migrate --store postgres://sequent@db/sequent\n\n# does the default store need a migration?\nsequent migrate --check",
		Args:    arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			run := app.Migrate
			if check {
				run = app.FormatOf
			}
			f, err := run(c.Context(), p.config())
			if err != nil {
				return err
			}
			out := jsonFormat{Store: f.Place.String(), Found: f.Have, Format: f.Want, Latest: f.Want, Migrated: f.Have != f.Want, Current: true}
			if check {
				out.Format, out.Migrated, out.Current = f.Have, false, f.Have == f.Want
			}
			if err := p.printFormat(out); err != nil {
				return err
			}
			if !out.Current {
				return errReported
			}
			return nil
		},
	}
	c.Flags().BoolVar(&check, "check", false, "change nothing; exit with code 1 if the store needs a migration")
	p.addJSONFlag(c)
	return c
}

func (p *program) printFormat(f jsonFormat) error {
	switch {
	case p.json:
		return writeJSON(p.out, f)
	case f.Migrated && f.Found == 0:
		return p.printf("Created %s with format %d.", f.Store, f.Format)
	case f.Migrated:
		return p.printf("Migrated %s from format %d to %d.", f.Store, f.Found, f.Format)
	case f.Current:
		return p.printf("%s has format %d and is up to date.", f.Store, f.Format)
	case f.Found == 0:
		return p.printf("%s does not exist yet. Run sequent migrate to create it with format %d.", f.Store, f.Latest)
	}
	return p.printf("%s has format %d. Run sequent migrate to migrate it to format %d.", f.Store, f.Found, f.Latest)
}
