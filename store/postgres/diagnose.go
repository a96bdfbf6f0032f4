package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// A Finding is what one check of [Diagnose] found.
type Finding struct {
	Check  string // what was looked at, in a word or two
	Status string // ok, warn or fail
	Detail string // what was found and what it means
	Fix    string // what to do about it
}

// oldest is the first version of PostgreSQL that the store is tested with.
const oldest = 15_00_00

// Diagnose looks at the database that an address names for anything that would
// keep the store from working. It changes nothing.
func Diagnose(ctx context.Context, address string) (all []Finding) {
	add := func(check, status, fix, format string, args ...any) {
		all = append(all, Finding{Check: check, Status: status, Detail: fmt.Sprintf(format, args...), Fix: fix})
	}
	broken := func(check string, err error) {
		e, _ := errors.AsType[*sequent.Error](wrap(ctx, err))
		detail := e.Msg
		if e.Err != nil {
			detail += " (" + e.Err.Error() + ")"
		}
		add(check, "fail", e.Fix, "%s", detail)
	}
	config, err := parse(Config{URL: address})
	if err != nil {
		broken("address", err)
		return all
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		broken("server", err)
		return all
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only looked
	var version, encoding, durable string
	var number int
	var standby bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::integer,
			current_setting('server_encoding'), current_setting('synchronous_commit'), pg_is_in_recovery()`,
	).Scan(&version, &number, &encoding, &durable, &standby); err != nil {
		broken("server", err)
		return all
	}
	switch {
	case number < oldest:
		add("server", "warn", "use PostgreSQL 15 or newer", "PostgreSQL %s, which the store is not tested with", version)
	case standby:
		add("server", "fail", "name the primary", "PostgreSQL %s, a standby: nothing can be stored", version)
	default:
		add("server", "ok", "", "PostgreSQL %s", version)
	}
	if encoding != "UTF8" {
		add("encoding", "fail", "create a database with the encoding UTF8", "%s, which cannot hold every text", encoding)
	} else {
		add("encoding", "ok", "", "%s", encoding)
	}
	if durable == "off" {
		add("durability", "warn", "SET synchronous_commit = on", "synchronous_commit is off: a crash of the server may cost the latest thoughts")
	} else {
		add("durability", "ok", "", "synchronous_commit is %s", durable)
	}
	switch format, err := schemaVersion(ctx, conn); {
	case err != nil:
		broken("format", err)
	case format < latest:
		add("format", "ok", "", "format %d, which is brought to %d at the next start", format, latest)
	default:
		add("format", "ok", "", "format %d", format)
	}
	return all
}
