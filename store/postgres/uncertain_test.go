//go:build unix

package postgres

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
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
	t.Cleanup(c.cut)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable")
	q.Set("lock_timeout", "20000") // a test holds statements by a lock
	u.RawQuery = q.Encode()
	return c, u.String()
}

func (c *cable) cut() {
	c.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.clients {
		conn.Close()
	}
}

// TestReplyLost cuts the connection while the server waits to store a thought, which
// it does afterwards.
func TestReplyLost(t *testing.T) {
	t.Parallel()
	direct := server.Schema(t)
	line, throughCable := newCable(t, direct)
	s, err := Open(t.Context(), Config{URL: throughCable, RetryTimeout: 100 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
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
	if _, err := tx.Exec(t.Context(), "LOCK TABLE thoughts IN SHARE MODE"); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() { _, err := e.Ensure(t.Context(), "a", adding("three")); failed <- err }()
	eventually(t, "the append waits for the lock", func() bool {
		var waiting bool
		err := tx.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'thoughts'::regclass)").Scan(&waiting)
		return err == nil && waiting
	})
	line.cut()
	err = <-failed
	if !sequent.IsUncertain(err) || sequent.CodeOf(err) != sequent.CodeUnavailable || strings.Contains(err.Error(), "nothing was") {
		t.Errorf("append whose reply was lost: %v, want an uncertain error with code %s", err, sequent.CodeUnavailable)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, direct)
	defer again.Close()
	eventually(t, "the thought of the refused call is stored", func() bool {
		_, log, err := again.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{}, 0)
		return err == nil && len(log) == 3
	})
}

// eventually waits until a condition holds, for 20 seconds at most.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.After(20 * time.Second); !holds(); {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatalf("timeout: %s", what)
		}
	}
}

// TestWriteError checks which errors of a write leave its outcome unknown.
func TestWriteError(t *testing.T) {
	fromServer := func(code string) error { return &pgconn.PgError{Code: code} }
	for _, test := range []struct {
		err       error
		uncertain bool
	}{
		{fromServer("57P01"), false}, // shutdown, before the statement
		{fromServer("08004"), false}, // connection refused
		{fromServer("08P01"), true},  // a pooler lost the server
		{fromServer("08006"), true},
		{fromServer("08007"), true},
		{fromServer("40001"), false},
		{fromServer("53100"), false},
		{io.ErrUnexpectedEOF, true},
		{os.ErrDeadlineExceeded, true},
		{notCommitted{io.ErrUnexpectedEOF}, false},
		{errors.New("a fault"), false},
	} {
		err := wrap(t.Context(), writeError(test.err))
		if sequent.IsUncertain(err) != test.uncertain {
			t.Errorf("writeError(%v) = %v, want Uncertain %t", test.err, err, test.uncertain)
		}
		if test.uncertain && isRetryable(test.err) {
			t.Errorf("%v is retried, though it may have had an effect", test.err)
		}
	}
}
