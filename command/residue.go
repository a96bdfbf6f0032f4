package command

import "github.com/sequent-dev/sequent/store/sqlite"

// someResidue returns nil for the zero Residue, which JSON output omits.
func someResidue(r sqlite.Residue) *sqlite.Residue {
	if r == (sqlite.Residue{}) {
		return nil
	}
	return &r
}

// printResidue says where deleted text may be left, and until when.
func (p *program) printResidue(r sqlite.Residue) error {
	if r.Log > 0 {
		err := p.printf("  Another process is reading the store. The text may stay in the write-ahead log (%d KiB) until it has\n"+
			"  finished; a server then empties the log within 10 minutes, and sequent compact does so at once.", (r.Log+1023)>>10)
		if err != nil {
			return err
		}
	}
	if r.Index {
		err := p.printf("  The search index may hold words of the text until the process that updates it has finished.\n" +
			"  Run sequent doctor to check it.")
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
