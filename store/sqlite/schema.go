package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"

	"github.com/sequent-dev/sequent"
)

// migrations holds one script a version. A released one never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

// scripts are the migrations in their order; the first makes version 1.
var scripts = [...]string{
	"migrations/0001_sessions.sql",
	"migrations/0002_index.sql",
}

// latest is the version of the schema that this program knows.
const latest = len(scripts)

// applicationID is in the header of our files; it reads "sqnt".
const applicationID = 0x73716e74

// schemaVersion returns the version of a file, 0 for an empty one. It refuses
// what is newer and what belongs to another program.
func schemaVersion(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (int, error) {
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
			Fix:  "name another file",
			Err:  fmt.Errorf("application_id %#x, user_version %d, %d tables and indexes", application, version, objects),
		}
	case version > latest:
		return 0, &sequent.Error{
			Code: sequent.CodeNewerSchema,
			Msg:  fmt.Sprintf("the store has format %d, this program knows up to %d; it was not touched", version, latest),
			Fix:  "install the newer version of the program that last used it, or name another file",
		}
	}
	return version, nil
}

// migrate brings a file to the latest version and the given journal. The
// caller holds the file lock.
func migrate(ctx context.Context, db *sql.DB, journal string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := schemaVersion(ctx, conn); err != nil {
		return err // before anything is touched
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode="+journal).Scan(&mode); err != nil {
		return err
	}
	if mode != journal {
		return fmt.Errorf("the journal mode is %q and cannot be made %q", mode, journal)
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous=FULL"); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	// If anything goes wrong, closing the connection rolls back.
	version, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
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
