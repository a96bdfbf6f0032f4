package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// The payload of a notification is the mark of its sender with the number of a part, as
// from-X/7, and the topics of the sessions of this part that have changed, in hexadecimal,
// separated by spaces.
const (
	senderMark = "from-"
	lost       = "*" // instead of the topics: there are too many
)

// payload returns the payload of a notification.
func (s *Store) payload(p *part, topics []sequent.Topic) string {
	const maxTopics = 400 // of 17 bytes; PostgreSQL's limit is 8000 bytes
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d", s.sender, p.number)
	if len(topics) > maxTopics {
		return b.String() + " " + lost
	}
	for _, t := range topics {
		fmt.Fprintf(&b, " %016x", uint64(t))
	}
	return b.String()
}

// report reports writes of this Store, without the delay of a notification, and tells
// the indexer.
func (s *Store) report(changed []*sequent.Write) {
	if len(changed) == 0 {
		return
	}
	if s.feed.Watched() {
		keys := make([]sequent.Key, len(changed))
		for i, w := range changed {
			keys[i] = w.Header.Key
		}
		s.feed.Written(keys...)
	}
	for _, w := range changed {
		s.needsIndex(s.part(w.Header.Owner))
	}
	s.schedule.Committed(count(changed))
}

// reportFailed reports the failed writes of a batch. They may have been stored, if
// the connection broke, and the listener skips their notification.
func (s *Store) reportFailed(batch []*sequent.Write, err error) {
	for _, w := range batch {
		if err != nil || w.Err != nil {
			s.feed.Touched(w.Header.Topic())
		}
	}
}

// receiveNotification reports the commits of another process.
func (s *Store) receiveNotification(payload string) {
	mark, rest, _ := strings.Cut(payload, " ")
	sender, number, _ := strings.Cut(mark, "/")
	if sender == s.sender {
		return
	}
	if n, err := strconv.Atoi(number); err == nil && 0 <= n && n < len(s.parts) {
		s.needsIndex(s.parts[n])
	} else {
		s.needsIndex(s.parts...)
	}
	s.schedule.Committed(1) // the process that committed may have exited
	if !strings.HasPrefix(sender, senderMark) {
		rest = payload // of an older version
	}
	var topics []sequent.Topic
	for field := range strings.FieldsSeq(rest) {
		t, err := strconv.ParseUint(field, 16, 64)
		if err != nil { // lost, or what a newer version sends
			s.feed.Lost()
			return
		}
		topics = append(topics, sequent.Topic(t))
	}
	s.feed.Touched(topics...)
}

// Watch implements [sequent.Store]. Notifications report commits of other processes.
func (s *Store) Watch(ctx context.Context) (*sequent.Watch, error) {
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	return s.feed.Watch(), nil
}

// A listener is the state of the goroutine that receives notifications, which
// connects at the first Watch.
type listener struct {
	once   sync.Once
	wanted chan struct{} // closed by the first Watch
	ready  chan struct{} // closed when it listens for the first time
}

func (l *listener) init() { l.wanted, l.ready = make(chan struct{}), make(chan struct{}) }

// listen waits until the listener has listened once. From then on commits are
// reported, and lost notifications are noticed.
func (s *Store) listen(ctx context.Context) error {
	if err := s.checkOpen(ctx); err != nil {
		return err
	}
	s.listener.once.Do(func() { close(s.listener.wanted) })
	select {
	case <-s.listener.ready:
		return nil
	case <-s.closed:
		return record.ErrClosed
	case <-ctx.Done():
		return wrap(ctx, ctx.Err())
	}
}

// runListener receives notifications from the first Watch until ctx ends. When a
// connection breaks it connects again, and reports that notifications were lost.
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
		s.feed.Lost()
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
			s.receiveNotification(n.Payload)
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
