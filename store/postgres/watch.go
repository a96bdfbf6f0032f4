package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/sqlstore"
)

// A notice is the payload of a notification.
type notice struct {
	From   string          // who sends it
	Topics []sequent.Topic // of the sessions that have changed; without topics, any may have changed
}

// maxTopics is the most topics in a notice: at 21 bytes each they fit PostgreSQL's limit of 8,000.
const maxTopics = 350

func (s *Store) payload(topics []sequent.Topic) string {
	if len(topics) > maxTopics {
		topics = nil
	}
	text, _ := json.Marshal(notice{s.sender, topics}) // it does not fail for these types
	return string(text)
}

// received reports the commits of another process.
func (s *Store) received(payload string) {
	var n notice
	switch err := json.Unmarshal([]byte(payload), &n); {
	case err == nil && n.From == s.sender:
	case err != nil || len(n.Topics) == 0:
		s.feed.Lost()
	default:
		s.feed.Touched(n.Topics...)
	}
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
	for failed := false; ; failed = true {
		start := time.Now()
		err := s.receive(s.background)
		if s.background.Err() != nil {
			return
		}
		if !failed || time.Since(start) > 10*time.Second { // once for each break
			s.log.Warn("the connection for notifications failed; connecting again", "error", err)
		}
		select {
		case <-time.After(500 * time.Millisecond):
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
		silent := limited.Err() != nil && ctx.Err() == nil && !conn.IsClosed()
		cancel()
		if err == nil {
			s.received(n.Payload)
		} else if silent {
			limited, cancel := context.WithTimeout(ctx, patience)
			err = conn.Ping(limited)
			cancel()
		}
		if err != nil {
			return err
		}
	}
}
