package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// migrations holds one script per format. A released script never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

// scripts lists the migrations in order. The first creates format 1.
var scripts = [...]string{
	"migrations/0001_sessions.sql",
	"migrations/0002_branches.sql",
}

// latest is the format that this program reads and writes.
const latest = len(scripts)

// migrate brings the schema to the latest format. Concurrent processes wait for the
// one that does it.
func migrate(ctx context.Context, config *pgx.ConnConfig) (err error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	version, err := schemaVersion(ctx, conn)
	if err != nil || version == latest {
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
	if version, err = schemaVersion(ctx, tx); err != nil || version == latest {
		return err
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
	if version == 0 {
		_, err = tx.Exec(ctx, fmt.Sprintf(`
			CREATE TABLE sequent_schema (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL);
			INSERT INTO sequent_schema VALUES (1, %d)`, latest))
	} else {
		_, err = tx.Exec(ctx, "UPDATE sequent_schema SET version = $1", latest)
	}
	if err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// schemaVersion returns the format of the schema, 0 if it has no tables. It returns
// an error if the format is newer than latest.
func schemaVersion(ctx context.Context, db interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}) (version int, err error) {
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
		err = &sequent.Error{
			Code: sequent.CodeNewerSchema,
			Msg:  fmt.Sprintf("the store has format %d; this program supports formats up to %d and did not change it", version, latest),
			Fix:  "install the newer version of the program that created it, or use another database",
		}
	}
	return version, err
}
