package postgres

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
)

// byWorker divides writes by the worker that has the session. A shard that has moved meanwhile
// makes a transaction one of two workers, which is slower.
func (s *Store) byWorker(ctx context.Context, writes []*sequent.Write) [][]*sequent.Write {
	parts := make([]int64, len(writes))
	slices.SortFunc(writes, func(a, b *sequent.Write) int { // so that two processes do not wait for each other
		return cmp.Compare(partOf(a.Header.Key), partOf(b.Header.Key))
	})
	for i, w := range writes {
		parts[i] = partOf(w.Header.Key)
	}
	groups := make(map[int][]*sequent.Write)
	err := s.withConn(ctx, func(c *conn) error {
		return c.raw(func(c *pgx.Conn) error {
			rows, err := c.Query(ctx, `
				SELECT n, (SELECT groupid FROM pg_dist_placement WHERE shardid = get_shard_id_for_distribution_column('tool_sessions', part))
				FROM unnest($1::bigint[]) WITH ORDINALITY u (part, n)`, parts)
			if err != nil {
				return err
			}
			var n, group int
			_, err = pgx.ForEachRow(rows, []any{&n, &group}, func() error {
				groups[group] = append(groups[group], writes[n-1])
				return nil
			})
			return err
		})
	})
	if err != nil {
		return [][]*sequent.Write{writes}
	}
	return slices.Collect(maps.Values(groups))
}

// inOrder stores the writes whose sessions are at their bases, in one transaction.
func (s *Store) inOrder(ctx context.Context, batch []*sequent.Write) (map[*sequent.Write]bool, error) {
	stored := make(map[*sequent.Write]bool)
	err := s.withConn(ctx, func(c *conn) error {
		var b, log pgx.Batch
		b.Queue("BEGIN")
		b.Queue(fmt.Sprintf("SET LOCAL statement_timeout = %d", (remoteTimeout / 2).Milliseconds()))
		keys := make([]int64, len(batch))
		for i, w := range batch {
			queueSwap(&b, w, &keys[i])
		}
		if err := c.send(ctx, &b); err != nil {
			return err
		}
		var topics []sequent.Topic
		for i, w := range batch {
			if keys[i] != 0 {
				stored[w] = true
				topics = append(topics, w.Header.Topic())
				queueLog(&log, w, keys[i])
			}
		}
		return s.finish(ctx, c, &log, topics...)
	})
	if err != nil {
		return nil, err
	}
	return stored, nil
}
