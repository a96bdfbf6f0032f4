package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

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

// migrate brings the schema to the latest format. Concurrent processes wait for the
// one that does it.
func migrate(ctx context.Context, config *pgx.ConnConfig) (err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	defer func() {
		if err == nil {
			err = checkServer(ctx, conn)
		}
	}()
	version, err := schemaVersion(ctx, conn)
	if err != nil || version >= latest {
		return err
	}
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer rollback(ctx, tx)
	// The lock is for this schema, and is released at the end of the transaction.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('sequent ' || current_schema(), 0))"); err != nil {
		return err
	}
	if version, err = schemaVersion(ctx, tx); err != nil || version >= latest {
		return err
	}
	if version == 0 {
		if _, err := tx.Exec(ctx, `
			CREATE TABLE sequent_schema (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL);
			INSERT INTO sequent_schema VALUES (1, 0)`); err != nil {
			return err
		}
	}
	for _, name := range scripts[version:] {
		script, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(script)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, err := tx.Exec(ctx, "UPDATE sequent_schema SET version = $1", latest); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// schemaVersion returns the format of the schema, 0 if it has no tables. It returns
// an error if the format is newer than latest and does not allow this program to write.
func schemaVersion(ctx context.Context, db queryer) (version int, err error) {
	var schema *string
	var exists bool
	// to_regclass may not see the latest commit of another process.
	err = db.QueryRow(ctx, `
		SELECT current_schema(), EXISTS (
			SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = current_schema() AND c.relname = 'sequent_schema'
		)`).Scan(&schema, &exists)
	switch {
	case err != nil:
		return 0, err
	case schema == nil:
		return 0, &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "the database has no schema for this user",
			Fix:  "create one, or set search_path in the address",
		}
	case !exists:
		return 0, nil
	}
	err = db.QueryRow(ctx, "SELECT version FROM sequent_schema").Scan(&version)
	if err == nil && version > latest {
		err = checkWriter(ctx, db)
	}
	return version, err
}

// checkWriter returns an error if the store was migrated to a format that this program
// must not write.
func checkWriter(ctx context.Context, db queryer) error {
	var version, oldest int
	if err := db.QueryRow(ctx, "SELECT version, oldest_writer FROM sequent_schema").Scan(&version, &oldest); err != nil {
		return err
	}
	if oldest <= latest {
		return nil
	}
	return &sequent.Error{
		Code: sequent.CodeNewerSchema,
		Msg: fmt.Sprintf("the store has format %d, which only programs for format %d or later may write; this one is for format %d and did not change it",
			version, oldest, latest),
		Fix: "restart with the newer version of the program, or use another database",
	}
}
