package postgres

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// migrations holds one script per format. A released script never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

// scripts are the names of the migrations in order. The first creates format 1.
var scripts, _ = fs.Glob(migrations, "migrations/*.sql")

// latest is the format that this program reads and writes.
var latest = len(scripts)

// A layout tells in which schemas a store is.
type layout struct {
	root    *part   // the schema that the address is for; the only part unless there are several
	parts   []*part // of the store
	formats []int   // of the parts, 0 of those without tables
	made    bool    // the schema of the address has a store
}

// format returns the oldest format of the parts, 0 if one has no tables.
func (l *layout) format() int { return slices.Min(l.formats) }

// find returns the layout of the store with n parts that the connection is for. It returns an
// error if there is a store with another number of parts, or with a newer format that does
// not allow this program to write, in the latter case with the layout.
func find(ctx context.Context, conn *pgx.Conn, n int) (*layout, error) {
	var schema *string
	if err := conn.QueryRow(ctx, "SELECT current_schema()").Scan(&schema); err != nil {
		return nil, err
	}
	if schema == nil {
		return nil, &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "the database has no schema for this user",
			Fix:  "create one, or set search_path in the address",
		}
	}
	l := &layout{root: newPart(*schema, 0, 1), parts: partsOf(*schema, n), formats: make([]int, n)}
	all := l.parts
	if n > 1 {
		const maxName = 63 - len("_p00")
		if len(*schema) > maxName {
			return nil, &sequent.Error{
				Code: sequent.CodeUnavailable,
				Msg:  fmt.Sprintf("the name of the schema %q is too long for a store with parts", *schema),
				Fix:  fmt.Sprintf("use a schema whose name has at most %d bytes", maxName),
			}
		}
		all = append([]*part{l.root}, l.parts...)
	}
	found, err := formats(ctx, conn, all)
	if err != nil {
		return nil, err
	}
	for i, f := range found {
		if f == nil {
			continue
		}
		if of := i - (len(all) - n); of >= 0 {
			l.formats[of] = f.Version
		}
		switch {
		case f.Version > latest && f.OldestWriter > latest:
			return l, f.tooNew()
		case i == 0:
			if err := f.check(l.root, n); err != nil {
				return nil, err
			}
			l.made = true
		case f.Part == nil || *f.Part != i-1 || f.Parts != n:
			return nil, &sequent.Error{
				Code: sequent.CodeUnavailable,
				Msg:  fmt.Sprintf("the schema %s, which is for a part of the store, has another store", l.parts[i-1].name),
				Fix:  "use another schema: search_path=NAME in the address",
			}
		}
	}
	return l, nil
}

// A format is the row of sequent_schema.
type format struct {
	Version      int  `json:"version"`
	OldestWriter int  `json:"oldest_writer"`
	Parts        int  `json:"parts"` // 0 in formats without parts
	Part         *int `json:"part"`
}

// formats returns the formats of schemas, nil for those without tables.
func formats(ctx context.Context, conn *pgx.Conn, parts []*part) ([]*format, error) {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	// to_regclass may not see the latest commit of another process.
	rows, err := conn.Query(ctx, `
		SELECT n.nspname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = ANY ($1) AND c.relname = 'sequent_schema' AND c.relkind IN ('r', 'p')`, names)
	if err != nil {
		return nil, err
	}
	exist, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	var made []*part
	for _, p := range parts {
		if slices.Contains(exist, p.name) {
			made = append(made, p)
		}
	}
	values, err := eachPart(ctx, conn, made, "SELECT to_jsonb(s) FROM schema.sequent_schema s")
	if err != nil {
		return nil, err
	}
	found := make([]*format, len(parts))
	for i, value := range values {
		f := new(format)
		if err := json.Unmarshal(value, f); err != nil {
			return nil, corrupt("the format of the store is missing or damaged", err)
		}
		found[slices.Index(parts, made[i])] = f
	}
	return found, nil
}

// check returns an error unless the store in the schema of the address has n parts.
func (f *format) check(root *part, n int) error {
	e := &sequent.Error{Code: sequent.CodeUnavailable}
	switch have := max(f.Parts, 1); {
	case f.Part != nil:
		store, _, _ := strings.Cut(root.name, fmt.Sprintf("_p%02d", *f.Part))
		e.Msg = fmt.Sprintf("the schema %s is part %d of a store with %d parts", root.name, *f.Part, have)
		e.Fix = fmt.Sprintf("write search_path=%s&parts=%d in the address", store, have)
	case have == n:
		return nil
	case n == 1:
		e.Msg = fmt.Sprintf("the store has %d parts, and the address does not say so", have)
		e.Fix = fmt.Sprintf("add the parameter parts=%d to the address", have)
	case have == 1:
		e.Msg = fmt.Sprintf("the store has no parts, and the address says parts=%d", n)
		e.Fix = "remove parts from the address; to divide the store, copy it with `sequent copy` to another schema " +
			"(search_path=NAME in the address)"
	default:
		e.Msg = fmt.Sprintf("the store has %d parts, and the address says parts=%d", have, n)
		e.Fix = fmt.Sprintf("write parts=%d in the address", have)
	}
	return e
}

func (f *format) tooNew() error {
	return &sequent.Error{
		Code: sequent.CodeNewerSchema,
		Msg: fmt.Sprintf("the store has format %d, which only programs for format %d or later may write; this one is for format %d and did not change it",
			f.Version, f.OldestWriter, latest),
		Fix: "restart with the newer version of the program, or use another database",
	}
}

// partsFormat is the format of the oldest program that knows of parts.
const partsFormat = 9

// make records in the schema of the address that a store with several parts is made there.
// Programs that know of no parts take it for a newer store.
func (l *layout) make(ctx context.Context, conn *pgx.Conn) error {
	return l.root.change(ctx, conn, func(tx pgx.Tx, version int) error {
		if version > 0 {
			return nil // another process has made it; find checks how
		}
		if err := l.root.run(ctx, tx, `
			CREATE TABLE schema.sequent_schema (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL,
				oldest_writer integer NOT NULL, parts integer NOT NULL, part integer)`); err != nil {
			return err
		}
		text := fmt.Sprintf("INSERT INTO schema.sequent_schema VALUES (1, %d, %d, %d, NULL)", latest, partsFormat, len(l.parts))
		_, err := tx.Exec(ctx, l.root.sql(text))
		return err
	})
}

// change calls do in a transaction, with the format of the schema. Other processes wait.
func (p *part) change(ctx context.Context, conn *pgx.Conn, do func(tx pgx.Tx, version int) error) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return notCommitted{err}
	}
	defer rollback(ctx, tx)
	// The lock is for this schema, and is released at the end of the transaction.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('sequent ' || $1, 0))", p.name); err != nil {
		return notCommitted{err}
	}
	found, err := formats(ctx, conn, []*part{p})
	if err != nil {
		return notCommitted{err}
	}
	version := 0
	if f := found[0]; f != nil {
		version = f.Version
	}
	if err := do(tx, version); err != nil {
		return notCommitted{err}
	}
	return tx.Commit(ctx)
}

// migrate brings the part to the latest format.
func (p *part) migrate(ctx context.Context, conn *pgx.Conn) error {
	err := p.change(ctx, conn, func(tx pgx.Tx, version int) error {
		if version >= latest {
			return nil
		}
		if version == 0 {
			if err := p.create(ctx, tx); err != nil {
				return err
			}
		}
		for _, name := range scripts[version:] {
			script, err := migrations.ReadFile(name)
			if err != nil {
				return err
			}
			if err := p.run(ctx, tx, string(script)); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if _, err := tx.Exec(ctx, p.sql("UPDATE schema.sequent_schema SET version = $1"), latest); err != nil || p.of == 1 {
			return err
		}
		_, err := tx.Exec(ctx, p.sql("UPDATE schema.sequent_schema SET parts = $1, part = $2, oldest_writer = greatest(oldest_writer, $3)"),
			p.of, p.number, partsFormat)
		return err
	})
	if err != nil {
		return err
	}
	return p.checkServer(ctx, conn)
}

// create creates the table of the format, and the schema if it is one of several.
func (p *part) create(ctx context.Context, tx pgx.Tx) error {
	var exists bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1)", p.name).Scan(&exists); err != nil {
		return err
	}
	if !exists {
		_, err := tx.Exec(ctx, "CREATE SCHEMA "+p.schema)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
			return &sequent.Error{
				Code: sequent.CodeReadOnly, Err: err,
				Msg: "the database user may not create the schema " + p.name + " for a part of the store",
				Fix: "GRANT CREATE ON DATABASE … TO this user, or make the store as a user with this privilege",
			}
		}
		if err != nil {
			return err
		}
	}
	return p.run(ctx, tx, `
		CREATE TABLE schema.sequent_schema (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL);
		INSERT INTO schema.sequent_schema VALUES (1, 0)`)
}

var comment = lazyregexp.New("--.*")

// run executes the statements of a script one by one: a distributed database refuses
// several at once.
func (p *part) run(ctx context.Context, tx pgx.Tx, script string) error {
	for text := range strings.SplitSeq(comment().ReplaceAllString(script, ""), ";") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if _, err := tx.Exec(ctx, p.sql(text)); err != nil {
			return err
		}
	}
	return nil
}

// checkWriter returns an error if the part was migrated to a format that this program must
// not write.
func (p *part) checkWriter(ctx context.Context, db queryer) error {
	var f format
	err := db.QueryRow(ctx, p.sql("SELECT version, oldest_writer FROM schema.sequent_schema")).Scan(&f.Version, &f.OldestWriter)
	if err == nil && f.OldestWriter > latest {
		err = f.tooNew()
	}
	return err
}
