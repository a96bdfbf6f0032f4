package postgres

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

//go:embed schema.sql
var schema string

// format is the number of the tables' form. The comment of tool_sessions has it, and whether
// Citus distributes the tables.
const format = 1

const (
	commentFormat = "sequent format %d"
	distributedBy = ", distributed by part"
)

// A place is where a store is.
type place struct {
	channel, encoding string // channel is empty if there is no schema
	has               bool   // there is a table of this name
	comment           string // of the table
	missing           string // other tables
}

func find(ctx context.Context, conn *pgx.Conn) (p place, err error) {
	err = conn.QueryRow(ctx, `
		SELECT coalesce('sequent_' || to_hex(hashtext(current_schema())), ''), current_setting('server_encoding'), t IS NOT NULL, coalesce(obj_description(t, 'pg_class'), ''),
			(SELECT coalesce(string_agg(n, ', '), '') FROM unnest(ARRAY['tool_log', 'tool_values']) n WHERE to_regclass(quote_ident(current_schema()) || '.' || n) IS NULL)
		FROM to_regclass(quote_ident(current_schema()) || '.tool_sessions') t`).Scan(&p.channel, &p.encoding, &p.has, &p.comment, &p.missing)
	if err == nil && p.encoding != "UTF8" {
		err = refuse("the database has the encoding "+p.encoding+", which cannot represent all texts", "create a database with the encoding UTF8")
	}
	if err == nil && p.channel == "" {
		err = refuse("the schema of the database does not exist", "create the schema that search_path in the address names")
	}
	if err == nil && p.has {
		have := 0
		_, _ = fmt.Sscanf(p.comment, commentFormat, &have) // otherwise it is 0
		if have != format {
			err = sqlstore.OtherFormat(have, format)
		} else if p.missing != "" {
			err = sqlstore.Incomplete(errors.New("missing: " + p.missing))
		}
	}
	return p, err
}

// Check returns an error unless the server answers, has the tables, and their format is that of
// this program. It does not try again.
func (s *Store) Check(ctx context.Context) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	c, err := s.db.Conn(ctx)
	if err == nil {
		defer c.Close() //nolint:errcheck // it only reads
		err = (&conn{conn: c}).raw(func(c *pgx.Conn) error {
			p, err := find(ctx, c)
			if err == nil && !p.has {
				err = refuse("the tables of the store are gone", "restore them from a backup, or restart the program, which creates them anew")
			}
			return err
		})
	}
	return s.wrap(ctx, err)
}

// create creates the tables unless they exist. Other processes wait meanwhile.
func (s *Store) create(ctx context.Context) (err error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	p, err := find(ctx, conn)
	if err == nil && !p.has {
		if _, err = conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext('sequent'))"); err == nil { // until the connection ends
			p, err = find(ctx, conn)
		}
		if err == nil && !p.has {
			p.comment = fmt.Sprintf(commentFormat, format)
			text := "BEGIN;" + schema
			if s.distributed {
				p.comment += distributedBy
				text += distribute
			}
			_, err = conn.PgConn().Exec(ctx, text+"COMMENT ON TABLE tool_sessions IS '"+p.comment+"'; COMMIT").ReadAll()
		}
	}
	if err != nil {
		return err
	}
	s.channel, s.distributed = p.channel, p.isDistributed()
	return nil
}

func (p *place) isDistributed() bool { return strings.HasSuffix(p.comment, distributedBy) }

// distribute makes the tables distributed. Values stay at the coordinator.
const distribute = `
	SELECT create_distributed_table('tool_sessions', 'part', colocate_with => 'none');
	SELECT create_distributed_table('tool_log', 'part', colocate_with => 'tool_sessions');`

// partOf returns the column part of a session's rows: all rows of a session are on one server.
func partOf(k sequent.Key) int64 {
	sum := sha256.Sum256([]byte(k.Owner + "\x00" + string(k.ID)))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// errLostCommit is what Citus only warns of: a worker did not confirm a COMMIT.
var errLostCommit = fmt.Errorf("a worker did not confirm a commit: %w", io.ErrUnexpectedEOF)
