package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// The payload of a notification has who sends it and the topics of the sessions that have
// changed, in hexadecimal, separated by spaces; without topics, any may have changed.
const maxTopics = 400 // of 17 bytes; PostgreSQL's limit is 8,000 bytes

func (s *Store) payload(topics []sequent.Topic) string {
	var b strings.Builder
	b.WriteString(s.sender)
	if len(topics) <= maxTopics {
		for _, t := range topics {
			fmt.Fprintf(&b, " %016x", uint64(t))
		}
	}
	return b.String()
}

// received reports the commits of another process.
func (s *Store) received(payload string) {
	fields := strings.Fields(payload)
	if len(fields) > 0 && fields[0] == s.sender {
		return
	}
	var topics []sequent.Topic
	for _, field := range fields[min(len(fields), 1):] {
		t, err := strconv.ParseUint(field, 16, 64)
		if err != nil {
			topics = nil
			break
		}
		topics = append(topics, sequent.Topic(t))
	}
	if len(topics) == 0 {
		s.feed.Lost()
	}
	s.feed.Touched(topics...)
}

// Watch implements [sequent.Watcher] by notifications. It waits until the store has listened
// once: from then on lost notifications are noticed.
func (s *Store) Watch(ctx context.Context) (*sequent.Watch, error) {
	if s.closed.Load() {
		return nil, sqlstore.ErrClosed
	}
	s.listen.Do(func() { s.running.Go(s.runListener) })
	select {
	case <-s.listening:
		return s.feed.Watch(), nil
	case <-s.background.Done():
		return nil, sqlstore.ErrClosed
	case <-ctx.Done():
		return nil, wrap(ctx, ctx.Err())
	}
}

// runListener receives notifications until the store is closed. When a connection breaks it
// connects again, and reports that notifications were lost.
func (s *Store) runListener() {
	logged := false
	for wait := 50 * time.Millisecond; s.background.Err() == nil; wait = min(2*wait, 2*time.Second) {
		start := time.Now()
		err := s.receive(s.background)
		if s.background.Err() != nil {
			return
		}
		if time.Since(start) > 10*time.Second {
			wait, logged = 50*time.Millisecond, false
		}
		if !logged {
			s.log.Warn("the connection for notifications failed; connecting again", "error", err)
			logged = true
		}
		select {
		case <-time.After(wait):
		case <-s.background.Done():
		}
	}
}

// receive connects and receives notifications until the connection breaks. It asks a silent
// server for a sign of life.
func (s *Store) receive(ctx context.Context) error {
	const silence, patience = 15 * time.Second, 5 * time.Second
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx) // it has nothing to lose
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{s.channel}.Sanitize()); err != nil {
		return err
	}
	select {
	case <-s.listening:
		s.feed.Lost()
	default:
		close(s.listening)
	}
	for {
		limited, cancel := context.WithTimeout(ctx, silence)
		n, err := conn.WaitForNotification(limited)
		silent := limited.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			s.received(n.Payload)
		case silent && !conn.IsClosed():
			limited, cancel := context.WithTimeout(ctx, patience)
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
