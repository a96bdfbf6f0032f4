package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/store/sqlite"
)

func (p *program) backup() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a consistent copy of a SQLite store to a file",
		Long: `Write a copy of the store to FILE, with the sessions of all owners. The store may be in use: the copy has
its state at one moment. The copy is checked before it gets its name, has mode 0600, and contains no deleted
text. The command refuses to replace a file without --force. A signature is of the bytes of FILE: verify it
before you open the copy as a store.

To restore a backup, run sequent restore, or copy the file to the store's place while no program has the
store open. For a PostgreSQL database, use pg_dump.

--json prints {"store", "file", "bytes", "sessions", "thoughts"}.`,
		Example: "sequent backup sessions-backup.db\n\n# every night, from cron\nsequent backup --force ~/backups/sequent.db",
		Args:    arguments(1, 1, "the file to write"),
		RunE: func(c *cobra.Command, args []string) error {
			key, err := p.signer(args[0])
			if err != nil {
				return err
			}
			m := p.newMeter()
			done, err := app.Backup(c.Context(), p.store, sqlite.BackupConfig{To: args[0], Force: force, Progress: m.share("backed up")})
			m.clear()
			if err == nil {
				err = p.signFile(done.Path, sequent.Header{}, key)
			}
			if err != nil {
				return err
			}
			return p.printCopied(done, "Backed up %s to %s (%s).", done.Path)
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "replace the file if it exists")
	p.addSignFlag(c)
	p.addJSONFlag(c)
	return c
}

func (p *program) restore() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace a SQLite store by a backup",
		Long: `Replace the store by the backup in FILE, which stays unchanged. The command refuses to replace a store that
has sessions without --force, and a store that another program has open. It builds the search index anew. A
backup of an older version is brought to the current format.

For a PostgreSQL database, use pg_restore.

--json prints {"store", "file", "bytes", "sessions", "thoughts"}.`,
		Example: "sequent restore sessions-backup.db\n\n# look into a backup beside the current store\nsequent restore sessions-backup.db --store ./old.db",
		Args:    arguments(1, 1, "the file of a backup"),
		RunE: func(c *cobra.Command, args []string) error {
			m := p.newMeter()
			done, err := app.Restore(c.Context(), p.store, sqlite.BackupConfig{From: args[0], Force: force, Progress: m.share("restored")})
			m.clear()
			if err != nil {
				return err
			}
			return p.printCopied(done, "Restored %s from %s (%s).", args[0])
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "replace a store that has sessions")
	p.addJSONFlag(c)
	return c
}

// share returns a function that shows what share of a number of bytes is done.
func (m *meter) share(what string) func(done, total int64) {
	return func(done, total int64) {
		m.show(fmt.Sprintf("%s of %s %s", mebibytes(done), mebibytes(max(done, total)), what))
	}
}

// printCopied prints the result of backup and restore. The format takes the store,
// the file and the counts.
func (p *program) printCopied(done sqlite.Copied, format, file string) error {
	place, err := app.Locate(p.store)
	if err != nil {
		return err
	}
	if p.json {
		done.Path = file
		return writeJSON(p.out, struct {
			Store string `json:"store"`
			sqlite.Copied
		}{place.String(), done})
	}
	return p.printf(format, place, draw.One(file, p.charset()), fmt.Sprintf("%s, %s, %s", draw.Count(done.Sessions, "session", "sessions"),
		draw.Count(done.Thoughts, "thought", "thoughts"), mebibytes(done.Bytes)))
}
