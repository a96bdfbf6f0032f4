package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/words"
)

// search checks the index against the store, and that searches find what is stored.
func (d *diagnoser) search(ctx context.Context) {
	s, err := Open(ctx, Config{Path: d.store.path, ReadOnly: true, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		d.fail("search index", err)
		return
	}
	defer s.Close() //nolint:errcheck // it only reads
	fix := "stop all programs that use the store, delete " + indexPath(s.path) + ", and start one: it makes the index again"
	if s.index == nil {
		d.Warn("search index", fix, "the index cannot be opened; searches read all thoughts")
		return
	}
	if err := d.index(ctx, s, fix); err != nil {
		d.Warn("search index", fix, "the index cannot be used, so searches read all thoughts: %v", err)
	}
	if err := d.Sample(ctx, s, fix); err != nil {
		d.fail("search", err)
	}
}

// A comparison is what the index and the store say of the same thoughts.
type comparison struct {
	state            indexState
	extent           extent
	stored           int64 // thoughts up to the index's mark
	behind           int64 // thoughts after it
	sampled, differs int
	example          int64 // id of a thought that differs
}

// index compares the index with the store.
func (d *diagnoser) index(ctx context.Context, s *Store, fix string) error {
	f, err := s.index.acquire(ctx, forReading)
	if errors.Is(err, errNoIndex) {
		d.OK("search index", "there is none yet; searches read the store")
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Release()
	c, err := compare(ctx, s, f)
	if err != nil {
		return err
	}
	pending := c.extent.lastForgotten != c.state.forgotten
	switch {
	case !c.extent.fits(c.state):
		d.Warn("search index", "start a server, which makes the index again", "it belongs to another state of the store, which was restored")
	case c.differs > 0:
		d.Fail("search index", fix, "%d of %d sampled thoughts are not indexed as they are stored, such as that with id %d", c.differs, c.sampled, c.example)
	case !pending && c.stored != c.state.docs:
		d.Fail("search index", fix, "%d thoughts are indexed, %d are stored", c.state.docs, c.stored)
	case pending:
		d.OK("search index", "%d thoughts are indexed, some of them deleted; %d are not indexed yet", c.state.docs, c.behind)
	default:
		d.OK("search index", "%d thoughts are indexed as they are stored; %d are not indexed yet", c.state.docs, c.behind)
	}
	return nil
}

// compare reads the index first, so that the store has all that the index has, except
// for deletions that the index has not applied.
func compare(ctx context.Context, s *Store, f *indexFile) (c comparison, err error) {
	index, err := f.Readers.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer index.Rollback() //nolint:errcheck // it only reads
	if c.state, err = f.state(ctx, index); err != nil {
		return c, err
	}
	store, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer store.Rollback() //nolint:errcheck // it only reads
	if c.extent, err = extentOf(ctx, store, c.state); err != nil {
		return c, err
	}
	err = store.QueryRowContext(ctx, `
		SELECT count(*) FILTER (WHERE id <= ?1), count(*) FILTER (WHERE id > ?1) FROM thoughts WHERE session <> 0`, c.state.mark,
	).Scan(&c.stored, &c.behind)
	if err != nil || !c.extent.fits(c.state) {
		return c, err
	}
	return c, c.sample(ctx, store, index)
}

// sample compares the latest indexed thoughts and some earlier ones with the store.
func (c *comparison) sample(ctx context.Context, store, index *sql.Tx) error {
	const latest, spread = 200, 200
	var ids []int64
	for i := range int64(latest) {
		ids = append(ids, c.state.mark-i)
	}
	for i := range int64(spread) {
		ids = append(ids, c.state.mark*i/spread)
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := store.QueryContext(ctx, `
		SELECT id, text, note FROM thoughts
		WHERE id IN (SELECT value FROM json_each(?)) AND session <> 0`, string(list))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var text, note string
		if err := rows.Scan(&id, &text, &note); err != nil {
			return err
		}
		same, err := indexed(ctx, index, id, text, note)
		if err != nil {
			return err
		}
		if c.sampled++; !same {
			c.differs++
			c.example = id
		}
	}
	return rows.Err()
}

// indexed reports whether a thought is in the index with its number of words and its
// longest words.
func indexed(ctx context.Context, index *sql.Tx, id int64, text, note string) (bool, error) {
	tokens := append(words.Tokens(text), words.Tokens(note)...)
	var n int
	err := index.QueryRowContext(ctx, "SELECT tokens FROM docs WHERE id = ?", id).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil || n != len(tokens) || n == 0 {
		return n == len(tokens), err
	}
	slices.SortStableFunc(tokens, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var match []string
	for _, token := range tokens[:min(len(tokens), 4)] {
		match = append(match, `"`+token+`"`)
	}
	var found bool
	err = index.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?)",
		strings.Join(match, " AND "), id).Scan(&found)
	return found, err
}
