package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// Delete implements [sequent.Store].
func (s *Store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	return s.db.Write(ctx, func(tx Tx) ([]sequent.Topic, error) {
		r, err := s.db.Find(ctx, tx, k, s.db.Lock)
		if err == nil && epoch != 0 && r.Header.Epoch != epoch {
			err = sequent.NotFound(k.ID)
		}
		if err != nil {
			return nil, err
		}
		return []sequent.Topic{k.Topic()}, s.remove(ctx, tx, r)
	})
}

// remove deletes the rows of a session, which is locked.
func (s *Store) remove(ctx context.Context, tx Tx, r Row) error {
	if s.db.Erase != nil {
		if err := s.db.Erase(ctx, tx, r); err != nil {
			return err
		}
	}
	session, log := s.db.of(r.Header.Key, "key = ?", r.Key), s.db.of(r.Header.Key, "session = ?", r.Key)
	if _, err := tx.ExecContext(ctx, "DELETE FROM tool_sessions"+session.where(), session.args...); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM tool_log"+log.where(), log.args...)
	return err
}

// A sweep deletes in small transactions, so that writers do not wait long.
const (
	sweepSessions = 20  // sessions of a transaction
	sweepEntries  = 100 // entries of a transaction; the last session may exceed it
)

// Sweep implements [sequent.Sweeper].
func (s *Store) Sweep(ctx context.Context, q sequent.Query, limit int) (int, error) {
	c := selected(&q)
	for total := 0; ; {
		var n, deleted int
		err := s.db.Write(ctx, func(tx Tx) (topics []sequent.Topic, err error) {
			list, err := query(ctx, tx, s.db.ScanHeader, "SELECT "+HeaderColumns+" FROM tool_sessions s"+c.where()+" LIMIT ?", append(c.args, min(limit-total, sweepSessions))...)
			entries := 0
			for n = 0; err == nil && n < len(list) && entries < sweepEntries; n++ {
				due := list[n].Header
				r, missing := s.db.Find(ctx, tx, due.Key, s.db.Lock)
				if errors.Is(missing, sequent.ErrNotFound) || missing == nil && r.Header.Position() != due.Position() {
					continue // it may be due no longer
				}
				if err = missing; err == nil {
					err = s.remove(ctx, tx, r)
				}
				entries += due.Entries
				topics = append(topics, due.Topic())
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
		ids, err := query(ctx, tx, func(scan func(...any) error) (id string, err error) {
			err = scan(&id)
			s.db.decode(&id)
			return id, err
		}, "SELECT id FROM tool_sessions WHERE owner = ?", from)
		for i := 0; i < len(ids) && err == nil; i++ {
			k := sequent.Key{Owner: from, ID: sequent.ID(ids[i])}
			r, missing := s.db.Find(ctx, tx, k, s.db.Lock)
			if errors.Is(missing, sequent.ErrNotFound) { // it has been deleted meanwhile
				continue
			}
			if err = missing; err == nil {
				err = s.rename(ctx, tx, r, to)
			}
			topics = append(topics, k.Topic(), sequent.Key{Owner: to, ID: k.ID}.Topic())
			n++
		}
		return topics, err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// rename gives a session, which is locked, to another owner.
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
	if s.db.Copy != nil {
		if err := s.db.Copy(ctx, tx, r, h); err != nil {
			return err
		}
		return s.remove(ctx, tx, r)
	}
	_, err := tx.ExecContext(ctx, "UPDATE tool_sessions SET owner = ?, seal = ? WHERE key = ?", to, h.Seal[:], r.Key)
	return err
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
