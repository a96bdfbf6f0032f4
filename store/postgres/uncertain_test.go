//go:build unix

package postgres

import (
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// A cable connects clients with a server until it is cut. What was sent before
// arrives.
type cable struct {
	net.Listener
	mu      sync.Mutex
	clients []net.Conn
}

// newCable returns a cable to the server of an address, and the address of its end.
func newCable(t *testing.T, address string) (*cable, string) {
	t.Helper()
	config, err := pgx.ParseConfig(address)
	if err != nil {
		t.Fatal(err)
	}
	network, to := pgconn.NetworkAddress(config.Host, config.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{Listener: l}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial(network, to)
			if err != nil {
				client.Close()
				continue
			}
			c.mu.Lock()
			c.clients = append(c.clients, client)
			c.mu.Unlock()
			go io.Copy(server, client) // the server's side stays open
			go func() { io.Copy(client, server); client.Close() }()
		}
	}()
	t.Cleanup(func() { c.Close(); c.cut() })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("lock_timeout", "60000") // a test holds statements by a lock
	u.RawQuery = q.Encode()
	return c, u.String()
}

// cut ends all connections.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.clients {
		conn.Close()
	}
	c.clients = nil
}

// TestReplyLost cuts the connection while the server waits to store a thought, which
// it does afterwards. If the server is away for good, the outcome is uncertain; otherwise the
// call sees what became of it.
func TestReplyLost(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	for name, away := range map[string]bool{"for good": true, "for a moment": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			direct := server.Schema(t)
			line, throughCable := newCable(t, direct)
			timeout := time.Minute
			if away {
				timeout = 100 * time.Millisecond
			}
			s, err := Open(t.Context(), Config{URL: throughCable, RetryTimeout: timeout, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			e := sequent.New(sequent.Config{Store: s})
			for _, text := range []string{"one", "two"} { // the statement of the second is that of the third, and is prepared
				if _, err := e.Ensure(t.Context(), "a", adding(text)); err != nil {
					t.Fatal(err)
				}
			}
			other, err := pgx.Connect(t.Context(), direct)
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close(t.Context())
			tx, err := other.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), "LOCK TABLE tool_log IN SHARE MODE"); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { _, err := e.Ensure(t.Context(), "a", adding("three")); done <- err }()
			eventually(t, "the append waits for the lock", func() bool {
				var waiting bool
				err := tx.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'tool_log'::regclass)").Scan(&waiting)
				return err == nil && waiting
			})
			if away {
				line.Close()
			}
			line.cut()
			if away {
				if err := <-done; !sequent.IsUncertain(err) || sequent.CodeOf(err) != sequent.CodeUnavailable {
					t.Errorf("append whose reply was lost: %v, want an uncertain error with code %s", err, sequent.CodeUnavailable)
				}
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !away {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
			again := openAt(t, direct)
			defer again.Close()
			eventually(t, "the thought is stored once", func() bool {
				_, log, err := again.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
				return err == nil && len(log) == 3
			})
		})
	}
}

// TestLost checks which errors break a connection, and after which nothing was done.
func TestLost(t *testing.T) {
	fromServer := func(code string) error { return &pgconn.PgError{Code: code} }
	for _, test := range []struct {
		err            error
		lost, noEffect bool
	}{
		{fromServer("57P01"), true, true},  // shutdown, before the statement
		{fromServer("08004"), true, true},  // connection refused
		{fromServer("08P01"), true, false}, // a pooler lost the server
		{fromServer("08006"), true, false},
		{fromServer("40001"), false, false},
		{fromServer("53100"), false, false},
		{io.ErrUnexpectedEOF, true, false},
		{os.ErrDeadlineExceeded, true, false},
		{errLostCommit, true, false},
	} {
		if lost, noEffect := isLost(test.err), hadNoEffect(test.err); lost != test.lost || noEffect != test.noEffect {
			t.Errorf("%v: lost %t, no effect %t, want %t and %t", test.err, lost, noEffect, test.lost, test.noEffect)
		}
	}
}
