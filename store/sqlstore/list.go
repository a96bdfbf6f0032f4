package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/sequent-dev/sequent"
)

// selected is the condition of the sessions that a query selects.
func selected(q *sequent.Query) (c condition) {
	c.and(!q.AllOwners, "owner = ?", q.Owner)
	c.and(q.Scope != "", "scope = ? AND scope <> ''", q.Scope)
	c.and(q.Project != "", "project IN ('', ?)", q.Project)
	c.and(q.Elsewhere != "", "project NOT IN ('', ?)", q.Elsewhere)
	c.and(!q.Since.IsZero(), "period >= ? AND updated >= ?", Period(q.Since), ceil(q.Since))
	c.and(!q.Before.IsZero(), "period <= ? AND updated < ?", Period(q.Before), ceil(q.Before))
	c.and(!q.Begun.IsZero(), "created >= ?", ceil(q.Begun))
	c.and(!q.Now.IsZero(), "expires = 0 OR expires > ?", q.Now.UnixMicro())
	c.and(!q.Expired.IsZero(), "expires > 0 AND expires <= ?", q.Expired.UnixMicro())
	c.and(q.Request.Key != "", "request_key = ? AND request_key <> '' AND request_digest = ?", q.Request.Key, q.Request.Digest)
	return c
}

// List implements [sequent.Store].
func (s *Store) List(ctx context.Context, q sequent.Query) (page sequent.Page, err error) {
	// A cursor has the place of the last session of a page. A model repeats it: digits are the fewest tokens.
	column, order, cursor := "updated", "period DESC, updated DESC, key DESC", "u%d.%d"
	if q.ByCreated {
		column, order, cursor = "created", "created DESC, key DESC", "c%d.%d"
	}
	c := selected(&q)
	last := int64(math.MaxInt64)
	if q.Cursor != "" {
		var at, key int64
		if _, err := fmt.Sscanf(q.Cursor, cursor, &at, &key); err != nil || fmt.Sprintf(cursor, at, key) != q.Cursor {
			return page, sequent.InvalidCursor()
		}
		last = at >> 24
		c.and(true, "("+column+", key) < (?, ?)", at, key)
	}
	c.and(!q.ByCreated, "period <= ?", last)
	from := "tool_sessions s"
	if s.db.Hint != nil {
		from += s.db.Hint(&q)
	}
	limit := q.PageSize()
	var list []Row
	err = s.db.Read(ctx, func(tx Tx) (err error) {
		list, err = query(ctx, tx, s.db.ScanHeader, "SELECT "+HeaderColumns+" FROM "+from+c.where()+" ORDER BY "+order+" LIMIT ?", append(c.args, limit+1)...)
		return err
	})
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		at := last.Header.Updated
		if q.ByCreated {
			at = last.Header.Created
		}
		page.Next = fmt.Sprintf(cursor, at.UnixMicro(), last.Key)
	}
	page.Headers = make([]sequent.Header, 0, len(list))
	for _, r := range list {
		page.Headers = append(page.Headers, r.Header)
	}
	return page, err
}

// Usage implements [sequent.UsageStore].
func (s *Store) Usage(ctx context.Context, q sequent.Query) (all []sequent.Usage, err error) {
	c := selected(&q)
	err = s.db.Read(ctx, func(tx Tx) (err error) {
		all, err = query(ctx, tx, func(scan func(...any) error) (u sequent.Usage, err error) {
			var updated int64
			err = scan(&u.Owner, &u.Sessions, &u.Thoughts, &u.Bytes, &updated)
			s.db.decode(&u.Owner)
			u.Updated = Time(updated)
			return u, err
		}, "SELECT owner, count(*), CAST(sum(len) AS bigint), CAST(sum(bytes) AS bigint), max(updated) FROM tool_sessions"+c.where()+" GROUP BY owner", c.args...)
		return err
	})
	slices.SortFunc(all, func(a, b sequent.Usage) int { return cmp.Compare(a.Owner, b.Owner) })
	return all, err
}
