package command

import (
	"cmp"

	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// printResidue says where deleted text may be left, and until when.
func (p *program) printResidue(r sqlite.Residue) error {
	who := cmp.Or(draw.One(r.HeldBy, p.charset()), "another process")
	if r.Log > 0 {
		err := p.printf("  The text may stay in the write-ahead log (%d KiB) until %s has finished reading the store.\n"+
			"  A server then empties the log within 10 minutes; sequent compact does so at once.", (r.Log+1023)>>10, who)
		if err != nil {
			return err
		}
	}
	if r.Index {
		err := p.printf("  The search index may hold words of the text until %s has finished updating it.\n"+
			"  Run sequent doctor to check it.", who)
		if err != nil {
			return err
		}
	}
	if r.OldLayout {
		return p.printf("  An older version created the store's file. It may hold text that was deleted before, and it does not\n" +
			"  get smaller. Run sequent compact once.")
	}
	return nil
}
