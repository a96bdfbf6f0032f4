package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/store/sqlite"
)

func (p *program) compact() *cobra.Command {
	c := &cobra.Command{
		Use:   "compact",
		Short: "Rewrite a SQLite store without unused space",
		Long: `Rewrite the file of a SQLite store without unused space and without remains of deleted text. In files of
this version, deletions do so already. Files of older versions need it once; sequent doctor
reports them.

The store may be in use. Writers wait until it is done, about a second for 100 MiB, and report a busy store
after ten seconds. The disk needs free space of twice the file's size.

--json prints {"store", "before", "after", "residue"}, with sizes in bytes; residue is as in sequent delete.`,
		Example: "sequent compact\nsequent compact --store ./sessions.db --json",
		Args:    arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			m := p.newMeter()
			done, err := app.Compact(c.Context(), p.config(), func(n int64) { m.show("compacting  " + mebibytes(n) + " on disk") })
			m.clear()
			if err != nil {
				return err
			}
			place, err := app.Locate(p.store)
			if err != nil {
				return err
			}
			if p.json {
				return writeJSON(p.out, struct {
					Store   string         `json:"store"`
					Before  int64          `json:"before"`
					After   int64          `json:"after"`
					Residue sqlite.Residue `json:"residue,omitzero"`
				}{place.String(), done.Before, done.After, done.Residue})
			}
			if err := p.printf("Compacted %s from %s to %s.", place, mebibytes(done.Before), mebibytes(done.After)); err != nil {
				return err
			}
			return p.printResidue(done.Residue)
		},
	}
	p.addJSONFlag(c)
	return c
}

// mebibytes formats a size in bytes.
func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
