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

// A topic is the hash of a session's key in a notification. If two sessions have
// the same topic, a change of one also wakes the waiters of the other.
type topic string

// Topics that are not of a session.
const (
	topicAny  topic = "any" // every notification
	topicLost topic = "*"   // notifications may have been lost
)

func topicOf(k sequent.Key) topic {
	h := fnv.New64a()
	h.Write([]byte(k.Owner))
	h.Write([]byte{0})
	h.Write([]byte(k.ID))
	return topic(hex.EncodeToString(h.Sum(nil)))
}

// payload returns the payload of the notification for a round.
func payload(round []*sequent.Write) string {
	const maxTopics = 400 // of 17 bytes; PostgreSQL's limit is 8000 bytes
	if len(round) > maxTopics {
		return string(topicLost)
	}
	topics := make([]string, len(round))
	for i, w := range round {
		topics[i] = string(topicOf(w.Header.Key))
	}
	return strings.Join(topics, " ")
}

// notify wakes waiters in this process, without the delay of a notification, and
// the indexer.
func (s *Store) notify(changed []*sequent.Write) {
	if len(changed) == 0 {
		return
	}
	for _, w := range changed {
		s.hub.Wake(topicOf(w.Header.Key))
	}
	s.hub.Wake(topicAny)
	s.schedule.Committed(count(changed))
}

// Wait implements [sequent.Store]. Notifications wake it after commits of other
// processes.
func (s *Store) Wait(ctx context.Context, k sequent.Key, have sequent.Position) error {
	all := k == (sequent.Key{})
	wanted := topicOf(k)
	if all {
		wanted = topicAny
	}
	// Subscribe before the first read, so that no commit is missed.
	changed := s.hub.Subscribe(wanted)
	defer changed.Close()
	lost := s.hub.Subscribe(topicLost)
	defer lost.Close()
	started, err := s.listen(ctx)
	if err != nil {
		return err
	}
	if all && started {
		return nil // there may have been a commit before the listener started
	}
	for {
		if !all {
			if moved, err := s.moved(ctx, k, have); moved || err != nil {
				return err
			}
		}
		select {
		case <-changed.C():
			return nil
		case <-lost.C():
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

// moved reports whether the position of a session differs from have.
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

// A listener is the state of the goroutine that receives notifications, which
// connects at the first Wait.
type listener struct {
	once   sync.Once
	wanted chan struct{} // closed by the first Wait
	ready  chan struct{} // closed when it listens for the first time
}

func (l *listener) init() { l.wanted, l.ready = make(chan struct{}), make(chan struct{}) }

// listen waits until the listener has listened once; from then on, lost
// notifications are noticed. It reports whether it had to wait for that.
func (s *Store) listen(ctx context.Context) (started bool, err error) {
	if err := s.checkOpen(ctx); err != nil {
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

// runListener receives notifications from the first Wait until ctx ends. When a
// connection breaks it connects again, and wakes topicLost.
func (s *Store) runListener(ctx context.Context) {
	select {
	case <-s.listener.wanted:
	case <-ctx.Done():
		return
	}
	logged := false
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 2*time.Second) {
		start := time.Now()
		err := s.receive(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(start) > 10*time.Second {
			wait, logged = 50*time.Millisecond, false
		}
		if !logged {
			s.log.WarnContext(ctx, "the connection for notifications failed; connecting again", "error", err)
			logged = true
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// pingInterval is how long a connection may be silent before it is checked.
const pingInterval = 15 * time.Second

// receive connects and receives notifications until the connection breaks.
func (s *Store) receive(ctx context.Context) (err error) {
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err = errors.Join(err, conn.Close(ctx))
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{s.channel}.Sanitize()); err != nil {
		return err
	}
	select {
	case <-s.listener.ready:
		s.hub.Wake(topicLost)
	default:
		close(s.listener.ready)
	}
	for {
		limited, cancel := context.WithTimeout(ctx, pingInterval)
		n, err := conn.WaitForNotification(limited)
		silent := limited.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			for each := range strings.FieldsSeq(n.Payload) {
				s.hub.Wake(topic(each))
			}
			s.hub.Wake(topicAny)
			s.schedule.Committed(1) // the process that committed may have exited
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
