package postgres

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// minVersion is the oldest version of PostgreSQL that the store is tested with.
const minVersion = 15_00_00

// Diagnose checks the database at address for problems. It changes nothing.
func Diagnose(ctx context.Context, address string) []diagnosis.Finding {
	var r diagnosis.Report
	diagnose(ctx, address, &r)
	return r.Findings
}

func diagnose(ctx context.Context, address string, r *diagnosis.Report) {
	fail := func(check string, err error) {
		e, _ := errors.AsType[*sequent.Error](wrap(ctx, err))
		r.Error(check, e)
	}
	config, parts, err := parse(Config{URL: address})
	if err != nil {
		fail("address", err)
		return
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		fail("server", err)
		return
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it only reads
	var version, encoding, commit string
	var number int
	var standby bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('server_version'), current_setting('server_version_num')::integer,
			current_setting('server_encoding'), current_setting('synchronous_commit'), pg_is_in_recovery()`,
	).Scan(&version, &number, &encoding, &commit, &standby); err != nil {
		fail("server", err)
		return
	}
	switch {
	case number < minVersion:
		r.Warn("server", "use PostgreSQL 15 or newer", "PostgreSQL %s, which the store is not tested with", version)
	case standby:
		r.Fail("server", "use the address of the primary", "PostgreSQL %s, a standby: nothing can be stored", version)
	default:
		r.OK("server", "PostgreSQL %s", version)
	}
	if encoding != "UTF8" {
		r.Fail("encoding", "create a database with the encoding UTF8", "%s, which cannot represent all texts", encoding)
	} else {
		r.OK("encoding", "%s", encoding)
	}
	if commit == "off" {
		r.Warn("durability", "SET synchronous_commit = on", "synchronous_commit is off: a crash of the server may lose the latest thoughts")
	} else {
		r.OK("durability", "synchronous_commit is %s", commit)
	}
	if err := diagnoseStandbys(ctx, conn, severalServers(&config.ConnConfig.Config), r); err != nil {
		fail("standbys", err)
		return
	}
	if err := diagnoseSettings(ctx, conn, r); err != nil {
		fail("settings", err)
		return
	}
	l, err := find(ctx, conn, parts)
	if err != nil {
		fail("format", err)
		return
	}
	switch format := l.format(); {
	case format == 0:
		r.OK("format", "no tables; they are created at the first start or by sequent migrate")
	case format < latest:
		r.OK("format", "format %d, migrated to %d at the next start or by sequent migrate", format, latest)
	default:
		r.OK("format", "format %d", format)
		if err := diagnoseTables(ctx, conn, l, r); err != nil {
			fail("tables", err)
			return
		}
		if err := diagnoseSearch(ctx, conn, l, address, r); err != nil {
			fail("search", err)
		}
	}
}

// diagnoseSettings checks connections, timeouts and privileges.
func diagnoseSettings(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	const perProcess = 10 // a pool of 8, the listener, and one while starting
	var limit, used int
	var statement, idle string
	var mayCreate, mayIdentify bool
	if err := conn.QueryRow(ctx, `
		SELECT current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer,
			(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
			current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
			coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE),
			has_function_privilege('pg_control_system()', 'EXECUTE')`,
	).Scan(&limit, &used, &statement, &idle, &mayCreate, &mayIdentify); err != nil {
		return err
	}
	if limit-used < perProcess {
		r.Warn("connections", "raise max_connections, or start fewer processes",
			"%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	} else {
		r.OK("connections", "%d of %d are in use; each serving process uses up to %d", used, limit, perProcess)
	}
	if statement == "0" || idle == "0" {
		r.Warn("time-outs", "remove statement_timeout and idle_in_transaction_session_timeout from the address, or set them to more than 0",
			"statement_timeout is %s and idle_in_transaction_session_timeout is %s: a hanging statement or process can block others without limit", statement, idle)
	} else {
		r.OK("time-outs", "%s for a statement, %s for an idle transaction", statement, idle)
	}
	if !mayCreate {
		r.Warn("rights", "GRANT CREATE ON SCHEMA … TO this user, or run sequent migrate as a user with this privilege",
			"this user may not create tables, so the store cannot be created or migrated")
	}
	if !mayIdentify { // see checkServer
		r.Warn("server identity", "GRANT EXECUTE ON FUNCTION pg_control_system() TO this user",
			"this user may not call pg_control_system(), so processes do not notice that the store was moved from another server; then searches miss new thoughts")
	} else {
		r.OK("server identity", "known; a move from another server is noticed")
	}
	return nil
}

// diagnoseTables checks the privileges on the tables and the backlog of the index,
// for a store of the latest format.
func diagnoseTables(ctx context.Context, conn *pgx.Conn, l *layout, r *diagnosis.Report) error {
	const maxCounted = 100_000
	var mayWrite bool
	var tables []string
	for _, p := range l.parts {
		for _, name := range []string{"tool_sessions", "thoughts", "entries", "thought_words", "index_state", "refusals", "shares", "tickets"} {
			tables = append(tables, p.table(name))
		}
	}
	if err := conn.QueryRow(ctx, `
		SELECT bool_and(has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')
			AND has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE'))
		FROM unnest($1::text[]) AS t`, tables).Scan(&mayWrite); err != nil {
		return err
	}
	if !mayWrite {
		r.Fail("tables", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO this user",
			"this user may not read and write all tables")
	} else {
		r.OK("tables", "readable and writable")
	}
	behind := 0
	for _, p := range l.parts {
		var n int
		if err := conn.QueryRow(ctx, p.sql(`
			SELECT count(*) FROM (
				SELECT FROM schema.thoughts t, schema.index_state s WHERE (t.tx, t.id) > (s.tx, s.id) LIMIT $1
			) AS missing`), maxCounted).Scan(&n); err != nil {
			return err
		}
		behind += n
	}
	switch {
	case behind == 0:
		r.OK("search index", "complete")
	case behind < maxCounted:
		r.OK("search index", "%d thoughts are not indexed yet; searches read them instead", behind)
	default:
		r.Warn("search index", "check that a serving process is running: it updates the index",
			"%d thoughts or more are not indexed, which slows searches down", maxCounted)
	}
	return nil
}

// diagnoseSearch checks the search index against the thoughts, and that searches find
// what is stored.
func diagnoseSearch(ctx context.Context, conn *pgx.Conn, l *layout, address string, r *diagnosis.Report) error {
	for _, p := range l.parts {
		if err := p.diagnoseIndex(ctx, conn, r); err != nil {
			return err
		}
	}
	s, err := open(ctx, Config{URL: address, Connections: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // it only reads
	if err := s.diagnoseParts(ctx, conn, r); err != nil {
		return err
	}
	fix := l.parts[0].repairIndex()
	if len(l.parts) > 1 {
		fix = "for each part, as here for the first one: " + fix
	}
	return r.Sample(ctx, s, fix)
}

// repairIndex is what to do if the search index of the part is wrong.
func (p *part) repairIndex() string {
	return p.sql("run TRUNCATE schema.thought_words; UPDATE schema.index_state SET tx = '0', id = 0, docs = 0, tokens = 0; " +
		"a serving process makes the index again")
}

// diagnoseIndex checks the search index of a part against its thoughts.
func (p *part) diagnoseIndex(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	const maxCounted = 1000
	var missing int
	err := conn.QueryRow(ctx, p.sql(`
		SELECT count(*) FROM (
			SELECT FROM schema.thoughts t, schema.index_state s
			WHERE (t.tx, t.id) <= (s.tx, s.id) AND NOT EXISTS (SELECT FROM schema.thought_words w WHERE w.id = t.id) LIMIT $1
		) AS missing`), maxCounted).Scan(&missing)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "57014" {
		r.Warn("search index", "set statement_timeout in the address to a longer time", "comparing it with the thoughts took too long")
		err = nil
	}
	if missing > 0 {
		r.Fail("search index", p.repairIndex(), "%d thoughts or more are not indexed and are not found, though later ones are indexed", missing)
	}
	return err
}

// diagnoseParts shows how a store is divided: the size of its parts and its largest owner,
// which is in one of them.
func (s *Store) diagnoseParts(ctx context.Context, conn *pgx.Conn, r *diagnosis.Report) error {
	if len(s.parts) == 1 {
		return nil
	}
	const mega = 1e6
	names := make([]string, len(s.parts))
	for i, p := range s.parts {
		names[i] = p.name
	}
	sizes := `
			SELECT n.nspname::text AS name, sum(pg_total_relation_size(c.oid))::bigint AS size
			FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = ANY ($1) AND c.relkind = 'r' GROUP BY 1`
	if s.distributed { // the tables at the coordinator are empty
		if err := diagnoseNodes(ctx, conn, names, r); err != nil {
			return err
		}
		sizes = partSizes
	}
	var total, most int64
	var largest string
	if err := conn.QueryRow(ctx, `
		WITH sizes AS (`+sizes+`)
		SELECT (SELECT sum(size)::bigint FROM sizes), size, name FROM sizes ORDER BY size DESC, name LIMIT 1`, names,
	).Scan(&total, &most, &largest); err != nil {
		return err
	}
	r.OK("parts", "%d, in the schemas %s to %s, with %.1f MB; the largest is %s with %.1f MB",
		len(names), names[0], names[len(names)-1], float64(total)/mega, largest, float64(most)/mega)
	all, err := s.Usage(ctx, sequent.UsageQuery{AllOwners: true})
	if err != nil || len(all) == 0 {
		return err
	}
	u := slices.MaxFunc(all, func(a, b sequent.Usage) int { return cmp.Compare(a.Bytes, b.Bytes) })
	owner := strconv.Quote(u.Owner)
	if u.Owner == "" {
		owner = "the local user"
	}
	r.OK("largest owner", "%s, in %s, with %d sessions and %.1f MB; one of %d owners",
		owner, s.part(u.Owner).name, u.Sessions, float64(u.Bytes)/mega, len(all))
	return nil
}

// partSizes are the sizes of schemas on workers of Citus.
const partSizes = `
	SELECT split_part(table_name::text, '.', 1) AS name, sum(shard_size)::bigint AS size
	FROM citus_shards WHERE split_part(table_name::text, '.', 1) = ANY ($1) GROUP BY 1`

// diagnoseNodes shows where Citus has placed the parts.
func diagnoseNodes(ctx context.Context, conn *pgx.Conn, names []string, r *diagnosis.Report) error {
	rows, err := conn.Query(ctx, `
		SELECT n.nodename, n.nodeport, n.isactive,
			count(DISTINCT split_part(s.table_name::text, '.', 1)), coalesce(sum(s.shard_size), 0)::bigint
		FROM pg_dist_node n LEFT JOIN citus_shards s ON s.nodename = n.nodename AND s.nodeport = n.nodeport
			AND split_part(s.table_name::text, '.', 1) = ANY ($1)
		WHERE n.noderole = 'primary' AND n.shouldhaveshards GROUP BY 1, 2, 3 ORDER BY 1, 2`, names)
	if err != nil {
		return err
	}
	var name string
	var port, parts int
	var active bool
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&name, &port, &active, &parts, &size}, func() error {
		node := net.JoinHostPort(name, strconv.Itoa(port))
		if active {
			r.OK("node", "%s has %d parts with %.1f MB", node, parts, float64(size)/1e6)
		} else {
			r.Warn("node", "SELECT citus_activate_node at the coordinator", "%s, with %d parts, is not active", node, parts)
		}
		return nil
	})
	return err
}
