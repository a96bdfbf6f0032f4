package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/sequent-dev/sequent"
)

// migrations holds one script per format. A released script never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

// scripts are the names of the migrations in order. The first creates format 1.
var scripts, _ = fs.Glob(migrations, "migrations/*.sql")

// latest is the format that this program reads and writes.
var latest = len(scripts)

// applicationID marks the header of our files. In ASCII it is "sqnt".
const applicationID = 0x73716e74

// A querier is a database, connection or transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// schemaVersion returns the format of a file, 0 for an empty file. It returns an error
// if the format is newer than latest and does not allow this program to write, or if the
// file is another program's.
func schemaVersion(ctx context.Context, db querier) (int, error) {
	var version, application, objects int
	err := db.QueryRowContext(ctx, `
		SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`,
	).Scan(&version, &application, &objects)
	switch {
	case err != nil:
		return 0, err
	case application != applicationID && (application != 0 || version != 0 || objects != 0):
		return 0, &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "the store's file is a SQLite database of another program",
			Fix:  "use another file",
			Err:  fmt.Errorf("application_id %#x, user_version %d, %d tables and indexes", application, version, objects),
		}
	case version > latest:
		if err := checkWriter(ctx, db, version); err != nil {
			return 0, err
		}
	}
	return version, nil
}

// checkWriter returns an error if the program is older than the oldest one that may
// write to a file of a newer format.
func checkWriter(ctx context.Context, db querier, version int) error {
	var oldest int
	if err := db.QueryRowContext(ctx, "SELECT oldest_writer FROM identity").Scan(&oldest); err != nil {
		return err
	}
	if oldest <= latest {
		return nil
	}
	return &sequent.Error{
		Code: sequent.CodeNewerSchema,
		Msg: fmt.Sprintf("the store has format %d, which only programs for format %d or later may write; this one is for format %d and did not change it",
			version, oldest, latest),
		Fix: "restart with the newer version of the program, or use another file",
	}
}

// mayWrite returns an error if another process has migrated the file to a format that
// this program must not write. It is called in a transaction.
func (w *writer) mayWrite(ctx context.Context) error {
	_, err := schemaVersion(ctx, w.conn)
	return err
}

// migrate brings a file to the latest format and the given journal mode. The
// caller holds the file lock.
func migrate(ctx context.Context, db *sql.DB, journal string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	have, err := schemaVersion(ctx, conn)
	if err != nil {
		return err // before changing the journal mode of a file that is refused
	}
	if have == 0 { // only before the first page is written
		if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum=INCREMENTAL"); err != nil {
			return err
		}
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode="+journal).Scan(&mode); err != nil {
		return err
	}
	if mode != journal {
		return fmt.Errorf("changing the journal mode to %q failed, it is %q", journal, mode)
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous=FULL"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	// After an error, closing the connection rolls back.
	version, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	if version > latest {
		return nil // additive changes, made by a newer program
	}
	for _, name := range scripts[version:] {
		script, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf(
		"PRAGMA user_version=%d; PRAGMA application_id=%d; COMMIT", latest, applicationID))
	return err
}
