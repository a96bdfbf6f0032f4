package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// errChanged says that a session has changed since its row was read.
var errChanged = errors.New("the session has changed")

// unchanged calls do with a session, again if it was changed meanwhile.
func (s *Store) unchanged(ctx context.Context, tx Tx, k sequent.Key, do func(Row) error) error {
	for {
		r, err := s.db.Find(ctx, tx, k, "")
		if err == nil {
			err = do(r)
		}
		if err != errChanged {
			return err
		}
	}
}

// Delete implements [sequent.Store].
func (s *Store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	return s.db.Write(ctx, func(tx Tx) ([]sequent.Topic, error) {
		return []sequent.Topic{k.Topic()}, s.unchanged(ctx, tx, k, func(r Row) error {
			if epoch != 0 && r.Header.Epoch != epoch {
				return sequent.NotFound(k.ID)
			}
			return s.remove(ctx, tx, r)
		})
	})
}

// remove deletes the rows of a session, or returns errChanged.
func (s *Store) remove(ctx context.Context, tx Tx, r Row) error {
	if err := s.removeRow(ctx, tx, r); err != nil {
		return err
	}
	if s.db.Erase != nil {
		if err := s.db.Erase(ctx, tx, r); err != nil {
			return err
		}
	}
	log := s.db.ofLog(r)
	_, err := tx.ExecContext(ctx, "DELETE FROM tool_log"+log.where(), log.args...)
	return err
}

// removeRow deletes the row of a session as it was read, or returns errChanged.
func (s *Store) removeRow(ctx context.Context, tx Tx, r Row) error {
	c := s.db.ofRow(r)
	c.and(true, "version = ?", r.Header.Version)
	return one(tx.ExecContext(ctx, "DELETE FROM tool_sessions"+c.where(), c.args...))
}

// one returns errChanged if a statement for the row of a session has found none.
func one(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n != 0 || err != nil {
		return err
	}
	return errChanged
}

// A sweep deletes in small transactions, so that writers do not wait long.
const (
	sweepSessions = 20  // sessions of a transaction
	sweepEntries  = 100 // entries of a transaction; the last session may exceed it
)

// Sweep implements [sequent.Sweeper].
func (s *Store) Sweep(ctx context.Context, q sequent.SweepQuery, limit int) (int, error) {
	var c condition
	c.and(!q.AllOwners, "owner = ?", q.Owner)
	c.and(!q.Expired.IsZero(), "expires > 0 AND expires <= ?", q.Expired.UnixMicro())
	c.and(!q.Before.IsZero(), "period <= ? AND updated < ?", Period(q.Before), ceil(q.Before))
	for total := 0; ; {
		var n, deleted int
		err := s.db.Write(ctx, func(tx Tx) (topics []sequent.Topic, err error) {
			list, err := query(ctx, tx, s.db.ScanHeader, "SELECT "+HeaderColumns+" FROM tool_sessions s"+c.where()+" LIMIT ?", append(c.args, min(limit-total, sweepSessions))...)
			entries := 0
			for n = 0; err == nil && n < len(list) && entries < sweepEntries; n++ {
				if err = s.remove(ctx, tx, list[n]); err == errChanged {
					err = nil // it may be due no longer
					continue
				}
				entries += list[n].Header.Entries
				topics = append(topics, list[n].Header.Topic())
			}
			deleted = len(topics)
			return topics, err
		})
		if err != nil {
			return total, err
		}
		if total += deleted; n == 0 || total >= limit {
			return total, nil
		}
	}
}

// RenameOwner implements [sequent.OwnerStore].
func (s *Store) RenameOwner(ctx context.Context, from, to string) (n int, err error) {
	if from == to {
		return 0, nil
	}
	err = s.db.Write(ctx, func(tx Tx) (topics []sequent.Topic, err error) {
		n = 0
		for last := int64(-1); ; {
			list, err := query(ctx, tx, s.db.ScanHeader, "SELECT "+HeaderColumns+" FROM tool_sessions s WHERE owner = ? AND key > ? ORDER BY key LIMIT 500", from, last)
			if len(list) == 0 || err != nil {
				return topics, err
			}
			for _, r := range list {
				last = r.Key
				err := s.unchanged(ctx, tx, r.Header.Key, func(r Row) error { return s.rename(ctx, tx, r, to) })
				if errors.Is(err, sequent.ErrNotFound) { // it has been deleted meanwhile
					continue
				}
				if err != nil {
					return nil, err
				}
				topics = append(topics, r.Header.Topic(), sequent.Key{Owner: to, ID: r.Header.ID}.Topic())
				n++
			}
		}
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (s *Store) rename(ctx context.Context, tx Tx, r Row, to string) error {
	h := r.Header
	h.Owner = to
	if r.Header.Seal == r.Header.Digest() { // otherwise it stays a fault
		h.Seal = h.Digest()
	}
	switch _, err := s.db.Find(ctx, tx, h.Key, ""); {
	case err == nil:
		return sequent.Errorf(sequent.CodeSessionExists, "owner", "delete one of them first", "the owner %q has a session %q, too", to, h.ID)
	case !errors.Is(err, sequent.ErrNotFound):
		return err
	}
	if s.db.Move != nil {
		if err := s.removeRow(ctx, tx, r); err != nil {
			return err
		}
		return s.db.Move(ctx, tx, r, h)
	}
	c := s.db.ofRow(r)
	c.and(true, "version = ?", r.Header.Version)
	return one(tx.ExecContext(ctx, "UPDATE tool_sessions SET owner = ?, seal = ?"+c.where(), append([]any{to, h.Seal[:]}, c.args...)...))
}

// PutValue implements [sequent.Values].
func (s *Store) PutValue(ctx context.Context, name string, value []byte, expires time.Time) error {
	return s.db.Write(ctx, func(tx Tx) ([]sequent.Topic, error) {
		if _, err := tx.ExecContext(ctx, "DELETE FROM tool_values WHERE expires <= ?", time.Now().UnixMicro()); err != nil {
			return nil, err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO tool_values (name, value, expires) VALUES (?, ?, ?) "+
			"ON CONFLICT (name) DO UPDATE SET value = excluded.value, expires = excluded.expires", name, append([]byte{}, value...), expires.UnixMicro())
		return nil, err
	})
}

// ValuesOf implements [sequent.Values].
func (s *Store) ValuesOf(ctx context.Context, prefix string) (map[string][]byte, error) {
	found := make(map[string][]byte)
	err := s.db.Read(ctx, func(tx Tx) error {
		_, err := query(ctx, tx, func(scan func(...any) error) (name string, err error) {
			var value []byte
			err = scan(&name, &value)
			found[name] = value
			return name, err
		}, "SELECT name, value FROM tool_values WHERE substr(name, 1, ?) = ?", utf8.RuneCountInString(prefix), prefix)
		return err
	})
	return found, err
}

// TakeValue implements [sequent.Values].
func (s *Store) TakeValue(ctx context.Context, name string) (value []byte, err error) {
	err = s.db.Write(ctx, func(tx Tx) ([]sequent.Topic, error) {
		err := tx.QueryRowContext(ctx, "DELETE FROM tool_values WHERE name = ? RETURNING value", name).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			value, err = nil, nil
		}
		return nil, err
	})
	return value, err
}
