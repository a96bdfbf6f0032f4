package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/textsearch"
)

// A Source is where candidates of a search are: rows of tool_log as l, newest first, perhaps
// with others that do not match.
type Source struct {
	From  string // tables, with tool_log as l
	ID    string // the column that orders them, equal to l.id
	Where string
	Args  []any
	Join  string // how the session is joined; empty means JOIN
}

// whole is the source of a search in one session, which is read without an index. The plus
// keeps the database from reading all entries in the order of their ids.
var whole = []Source{{From: "tool_log l", ID: "+l.id", Where: "l.kind = 'thought'"}}

// Search implements [sequent.Searcher]. Candidates are the newest thoughts that have all
// words, then those that have any.
func (s *Store) Search(ctx context.Context, q sequent.SearchQuery) (out sequent.Hits, err error) {
	asked, at, err := q.Parse()
	if err != nil {
		return out, err
	}
	err = s.db.Read(ctx, func(tx Tx) error {
		if at.Newest == 0 {
			if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM tool_log").Scan(&at.Newest); err != nil {
				return err
			}
		}
		found := asked.Rank()
		for _, all := range []bool{true, false} {
			sources := whole
			if q.Session == "" { // the index would find the words in all sessions
				sources = s.db.Sources(asked, all, at.Newest)
			} else if all {
				continue
			}
			for i := 0; i < len(sources) && found.Len() < q.MaxCandidates(); i++ {
				if err := s.collect(ctx, tx, &q, at.Newest, sources[i], found); err != nil {
					return err
				}
			}
		}
		best, _ := found.Best(at.Offset, q.PageSize())
		hits, err := s.hits(ctx, tx, best)
		if err != nil {
			return err
		}
		out, err = q.Page(asked, at, found, func(id int64) (sequent.Hit, bool, error) {
			h, ok := hits[id]
			return h, ok, nil
		})
		return err
	})
	return out, err
}

// session is what joins the session of a row of tool_log.
func (d *Database) session() string {
	on := "s.key = l.session AND l.n <= s.entries"
	if d.Part != nil {
		on += " AND s.part = l.part"
	}
	return " tool_sessions s ON " + on
}

// collect adds candidates until there are enough.
func (s *Store) collect(ctx context.Context, tx Tx, q *sequent.SearchQuery, newest int64, from Source, found *textsearch.Ranking) error {
	var c condition
	c.and(from.Where != "", from.Where, from.Args...)
	c.and(true, from.ID+" <= ?", newest)
	c.and(!q.AllOwners, "s.owner = ?", q.Owner)
	c.and(q.Session != "", "s.id = ?", string(q.Session))
	c.and(q.Project != "", "s.project IN ('', ?)", q.Project)
	c.and(!q.Now.IsZero(), "s.expires = 0 OR s.expires > ?", q.Now.UnixMicro())
	rows, err := tx.QueryContext(ctx, "SELECT l.id, s.key, l.text, l.note FROM "+from.From+" "+cmp.Or(from.Join, "JOIN")+s.db.session()+c.where()+" ORDER BY "+from.ID+" DESC", c.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for found.Len() < q.MaxCandidates() && rows.Next() {
		var id, group int64
		var text, note string
		if err := rows.Scan(&id, &group, &text, &note); err != nil {
			return err
		}
		s.db.decode(&text, &note)
		if !q.Distinct {
			group = 0
		}
		found.Add(group, id, text, note)
	}
	return rows.Err()
}

// hits returns the thoughts of matches, by id.
func (s *Store) hits(ctx context.Context, tx Tx, best []textsearch.Match) (map[int64]sequent.Hit, error) {
	found := make(map[int64]sequent.Hit)
	if len(best) == 0 {
		return found, nil
	}
	ids := make([]any, len(best))
	for i, m := range best {
		ids[i] = m.ID
	}
	_, err := query(ctx, tx, func(scan func(...any) error) (id int64, err error) {
		var entry sequent.Entry
		r, err := s.db.ScanHeader(func(header ...any) (err error) {
			entry, err = s.db.ScanEntry(func(fields ...any) error { return scan(slices.Concat([]any{&id}, fields, header)...) })
			return err
		})
		found[id] = sequent.Hit{Key: r.Header.Key, Title: r.Header.Title, Thought: entry.Thought}
		return id, err
	}, "SELECT l.id, "+EntryColumns+", "+HeaderColumns+" FROM tool_log l JOIN"+s.db.session()+" WHERE l.id IN (?"+strings.Repeat(", ?", len(ids)-1)+")", ids...)
	return found, err
}
