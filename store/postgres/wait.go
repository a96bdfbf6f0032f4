package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A name is what a session is called in a notification: two sessions may share
// one, and then wake each other's followers for nothing.
type name string

// Names of no session.
const (
	anything name = "any" // every notification
	resync   name = "*"   // notifications may have been missed
)

func nameOf(k sequent.Key) name {
	h := fnv.New64a()
	h.Write([]byte(k.Owner))
	h.Write([]byte{0})
	h.Write([]byte(k.ID))
	return name(hex.EncodeToString(h.Sum(nil)))
}

// notice returns what a notification says of writes: 17 bytes a session, of
// the 8,000 that fit.
func notice(round []*sequent.Write) string {
	const most = 400
	if len(round) > most {
		return string(resync)
	}
	names := make([]string, len(round))
	for i, w := range round {
		names[i] = string(nameOf(w.Header.Key))
	}
	return strings.Join(names, " ")
}

// announce tells those in this process who wait, before the server does, and
// the indexer.
func (s *Store) announce(changed []*sequent.Write) {
	if len(changed) == 0 {
		return
	}
	for _, w := range changed {
		s.hub.Wake(nameOf(w.Header.Key))
	}
	s.hub.Wake(anything)
	s.indexer.wrote(count(changed))
}

// Wait implements [sequent.Store]. Commits anywhere wake at once.
func (s *Store) Wait(ctx context.Context, k sequent.Key, have sequent.Position) error {
	all := k == (sequent.Key{})
	mine := nameOf(k)
	if all {
		mine = anything
	}
	// Both places are taken before the look, so that nothing is missed.
	here := s.hub.Subscribe(mine)
	defer here.Close()
	missed := s.hub.Subscribe(resync)
	defer missed.Close()
	fresh, err := s.listen(ctx)
	if err != nil {
		return err
	}
	if all && fresh {
		return nil // something may have happened before anybody listened
	}
	for {
		if !all {
			if moved, err := s.moved(ctx, k, have); moved || err != nil {
				return err
			}
		}
		select {
		case <-here.C():
			return nil
		case <-missed.C():
			if all {
				return nil
			}
		case <-s.closed:
			return record.ErrClosed
		case <-ctx.Done():
			return wrap(ctx, ctx.Err())
		}
	}
}

func (s *Store) moved(ctx context.Context, k sequent.Key, have sequent.Position) (moved bool, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		var now sequent.Position
		err := s.pool.QueryRow(ctx, "SELECT epoch, version, len FROM tool_sessions WHERE owner = $1 AND id = $2",
			pack(k.Owner), pack(string(k.ID))).Scan(&now.Epoch, &now.Version, &now.Len)
		if isNoRows(err) {
			err = nil
		}
		moved = now != have
		return err
	})
	return moved, err
}

// A listener is the one connection that notifications come on. It is made when
// somebody waits for the first time, and kept.
type listener struct {
	once   sync.Once
	wanted chan struct{} // closed when somebody waits for the first time
	ready  chan struct{} // closed when it has listened for the first time
}

func (l *listener) init() { l.wanted, l.ready = make(chan struct{}), make(chan struct{}) }

// listen returns when notifications come, or have come and will again. fresh
// tells that they did not when it was called.
func (s *Store) listen(ctx context.Context) (fresh bool, err error) {
	if err := s.usable(ctx); err != nil {
		return false, err
	}
	s.listener.once.Do(func() { close(s.listener.wanted) })
	select {
	case <-s.listener.ready:
		return false, nil
	default:
	}
	select {
	case <-s.listener.ready:
		return true, nil
	case <-s.closed:
		return false, record.ErrClosed
	case <-ctx.Done():
		return false, wrap(ctx, ctx.Err())
	}
}

// follow receives notifications, once they are wanted, until ctx is done. A
// connection that breaks is made anew, and then everybody looks for what was
// missed.
func (s *Store) follow(ctx context.Context) {
	select {
	case <-s.listener.wanted:
	case <-ctx.Done():
		return
	}
	told := false
	for pause := 50 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 2*time.Second) {
		begun := time.Now()
		err := s.receive(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > 10*time.Second {
			pause, told = 50*time.Millisecond, false
		}
		if !told {
			s.log.WarnContext(ctx, "notifications of the store were interrupted; they are asked for again", "error", err)
			told = true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// quietLine is how long a connection may be silent before it is looked whether
// it is still there.
const quietLine = 15 * time.Second

// receive receives notifications on a connection of its own until that breaks.
func (s *Store) receive(ctx context.Context) (err error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err = errors.Join(err, conn.Close(ending))
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{s.channel}.Sanitize()); err != nil {
		return err
	}
	select {
	case <-s.listener.ready:
		s.hub.Wake(resync)
	default:
		close(s.listener.ready)
	}
	for {
		limited, cancel := context.WithTimeout(ctx, quietLine)
		n, err := conn.WaitForNotification(limited)
		silent := limited.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			for each := range strings.FieldsSeq(n.Payload) {
				s.hub.Wake(name(each))
			}
			s.hub.Wake(anything)
			s.indexer.wrote(1) // whoever wrote may have ended already
		case silent && !conn.IsClosed():
			limited, cancel := context.WithTimeout(ctx, 5*time.Second)
			err := conn.Ping(limited)
			cancel()
			if err != nil {
				return err
			}
		default:
			return err
		}
	}
}
