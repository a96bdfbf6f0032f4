package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A bare compares appends through the engine with a loop on the store's driver, which
// executes the two statements of an append in one transaction and nothing else.
type bare struct {
	sync sqlite.Sync
	goal float64 // least ratio of rates

	engine, loop float64 // appends per second
}

// round measures both in turn, in new files below dir.
func (b *bare) round(ctx context.Context, dir string, size int, during time.Duration) error {
	rate, err := b.measureEngine(ctx, filepath.Join(dir, "engine.db"), size, during)
	if err != nil {
		return err
	}
	best(&b.engine, rate, more)
	rate, err = b.measureLoop(ctx, filepath.Join(dir, "loop.db"), size, during)
	if err != nil {
		return err
	}
	best(&b.loop, rate, more)
	return nil
}

// repeat calls do until the time has passed, after a tenth of it that does not count,
// and returns how often it did per second. The argument of do is 1, 2, 3, ….
func repeat(during time.Duration, do func(n int) error) (float64, error) {
	n := 0
	for start := time.Now(); time.Since(start) < during/10; {
		n++
		if err := do(n); err != nil {
			return 0, err
		}
	}
	first, start := n, time.Now()
	for time.Since(start) < during {
		n++
		if err := do(n); err != nil {
			return 0, err
		}
	}
	return float64(n-first) / time.Since(start).Seconds(), nil
}

func (b *bare) measureEngine(ctx context.Context, path string, size int, during time.Duration) (rate float64, err error) {
	store, err := sqlite.Open(ctx, sqlite.Config{Path: path, Sync: b.sync})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	e := sequent.New(sequent.Config{Store: store})
	return repeat(during, func(n int) error {
		_, err := e.Ensure(ctx, "a", func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: n, Total: n, Text: words(n, size)})
			return err
		})
		return err
	})
}

// The statements of an append to a session that only advances.
const (
	bareMove = `
		UPDATE tool_sessions SET version = ?, len = ?, entries = ?, bytes = ?, head = ?, seal = ?, updated = ?, period = ?
		WHERE key = ? AND version = ?`
	bareInsert = `
		INSERT INTO tool_log (session, n, kind, at, seq, number, total, after, supersedes, final, text, note, salt, hash, rest)
		VALUES (?, ?, 'thought', ?, ?, ?, ?, ?, 0, 0, ?, '', ?, ?, '{}')`
)

func (b *bare) measureLoop(ctx context.Context, path string, size int, during time.Duration) (rate float64, err error) {
	store, err := sqlite.Open(ctx, sqlite.Config{Path: path, Sync: b.sync})
	if err != nil {
		return 0, err
	}
	_, err = sequent.New(sequent.Config{Store: store}).Begin(ctx, "a", func(*sequent.Change) error { return nil })
	if err := errors.Join(err, store.Close()); err != nil {
		return 0, err
	}
	synchronous := "FULL"
	if b.sync == sqlite.Normal {
		synchronous = "NORMAL"
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous("+synchronous+")&_pragma=wal_autocheckpoint(4000)")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = conn.Raw(func(c any) (err error) {
		rate, err = appendBare(ctx, c.(driver.ConnPrepareContext), size, during)
		return err
	})
	return rate, err
}

// appendBare appends to the first session of a store. It uses the driver directly, as
// the store does.
func appendBare(ctx context.Context, conn driver.ConnPrepareContext, size int, during time.Duration) (rate float64, err error) {
	var stmts [4]driver.StmtExecContext
	for i, text := range []string{"BEGIN IMMEDIATE", bareMove, bareInsert, "COMMIT"} {
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return 0, err
		}
		defer stmt.Close() //nolint:errcheck // the file is deleted
		stmts[i] = stmt.(driver.StmtExecContext)
	}
	ctx = context.WithoutCancel(ctx) // as in the store: the driver has a goroutine for each statement that can be cancelled
	exec := func(i int, values ...driver.Value) error {
		args := make([]driver.NamedValue, len(values))
		for i, v := range values {
			args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
		}
		result, err := stmts[i].ExecContext(ctx, args)
		if err != nil || len(values) == 0 {
			return err
		}
		if n, err := result.RowsAffected(); n != 1 || err != nil {
			return fmt.Errorf("%d rows were changed, not one: %w", n, err)
		}
		return nil
	}
	var salt [16]byte
	var hash [32]byte
	return repeat(during, func(n int) error {
		rand.Read(salt[:])
		rand.Read(hash[:])
		i, now := int64(n), time.Now().UnixMicro()
		return errors.Join(
			exec(0),
			exec(1, i+1, i, i+1, i*int64(size), hash[:], hash[:], now, now>>24, int64(1), i),
			exec(2, int64(1), i+1, now, i, i, i, i-1, words(n, size), salt[:], hash[:]),
			exec(3),
		)
	})
}

// report returns a table of the comparisons, and the goals that were missed.
func reportBare(all []*bare, size int) (table string, missed []string) {
	var b strings.Builder
	fmt.Fprintf(&b, `
### SQLite against a bare loop

Appends of %d bytes per second to one session, one at a time, in this process: through the engine and the store, which also
indexes them for searches, and by a loop that executes the same two statements in one transaction, with the same driver on
the same tables, and nothing else.

| | engine and store | bare loop | ratio |
|---|--:|--:|--:|
`, size)
	for _, c := range all {
		name := "normal"
		if c.sync == sqlite.Full {
			name = "full"
		}
		ratio := c.engine / c.loop
		fmt.Fprintf(&b, "| SQLite, %s | %s | %s | %.2fx, goal ≥ %gx", name, figure(c.engine), figure(c.loop), ratio, c.goal)
		if ratio < c.goal {
			fmt.Fprint(&b, ", **missed**")
			missed = append(missed, fmt.Sprintf("- appends, SQLite, %s: %.2fx of a bare loop, goal ≥ %gx", name, ratio, c.goal))
		}
		fmt.Fprintln(&b, " |")
	}
	return b.String(), missed
}
