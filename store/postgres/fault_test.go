//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

func TestConcurrentCreate(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			s, err := Open(t.Context(), Config{URL: url, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Errorf("replica %d: %v", i, err)
				return
			}
			defer s.Close()
			if _, err := sequent.New(sequent.Config{Store: s}).Ensure(t.Context(), sequent.ID(fmt.Sprint(i)), adding("one")); err != nil {
				t.Errorf("replica %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

func TestOpenRefused(t *testing.T) {
	t.Parallel()
	address := func(change func(*url.URL)) string {
		u, err := url.Parse(server.Schema(t))
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	newer, older := server.Schema(t), server.Schema(t)
	openAt(t, newer).Close()
	execute(t, newer, "COMMENT ON TABLE tool_sessions IS 'sequent format 99'")
	execute(t, older, "CREATE TABLE tool_sessions (owner text)")
	renamed, some := server.Schema(t), server.Schema(t)
	openAt(t, renamed).Close()
	execute(t, renamed, "ALTER TABLE tool_log RENAME TO mine")
	execute(t, some, "CREATE TABLE tool_values (x text)")
	execute(t, server.Schema(t), "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
	for name, test := range map[string]struct {
		url  string
		code sequent.Code
	}{
		"a renamed table":  {renamed, sequent.CodeCorrupt},
		"only some tables": {some, sequent.CodeCorrupt},
		"a newer format":   {newer, sequent.CodeOtherFormat},
		"an older one":     {older, sequent.CodeOtherFormat},
		"no server":        {"postgres://user:s3cret@" + nobody + "/db", sequent.CodeUnavailable},
		"no database": {address(func(u *url.URL) {
			u.User, u.Path = url.UserPassword("postgres", "s3cret"), "/nothing"
		}), sequent.CodeUnavailable},
		"no schema": {address(func(u *url.URL) {
			q := u.Query()
			q.Set("search_path", "nowhere")
			u.RawQuery = q.Encode()
		}), sequent.CodeUnavailable},
		"ASCII":         {address(func(u *url.URL) { u.Path = "/ascii" }), sequent.CodeUnavailable},
		"no port":       {"postgres://user:s3cret@host:port/db", sequent.CodeUnavailable},
		"no host":       {"postgres://us er:s3cret@%zz", sequent.CodeUnavailable},
		"no number":     {"password=s3cret port=x", sequent.CodeUnavailable},
		"no address":    {"s3cret", sequent.CodeUnavailable},
		"a wrong value": {"postgres://user:s3cret@" + nobody + "/db?distributed=perhaps", sequent.CodeUnavailable},
	} {
		s, err := Open(t.Context(), Config{URL: test.url, RetryTimeout: 100 * time.Millisecond})
		if err == nil {
			s.Close()
			t.Errorf("%s: Open succeeded, want code %s", name, test.code)
			continue
		}
		e, ok := errors.AsType[*sequent.Error](err)
		if !ok || e.Code != test.code || e.Msg == "" || e.Fix == "" || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: Open = %v (code %s), want code %s, a fix and no password", name, err, sequent.CodeOf(err), test.code)
		}
	}
}

// Errors of the server have a code, and what to do.
func TestErrors(t *testing.T) {
	for code, want := range map[string]sequent.Code{
		"25006": sequent.CodeReadOnly, "42501": sequent.CodeReadOnly, "53100": sequent.CodeFull, "53300": sequent.CodeBusy,
		"57014": sequent.CodeBusy, "55P03": sequent.CodeBusy, "40P01": sequent.CodeBusy, "57P01": sequent.CodeUnavailable,
		"08006": sequent.CodeUnavailable, "28P01": sequent.CodeUnavailable, "3D000": sequent.CodeUnavailable,
		"XX001": sequent.CodeCorrupt, "58030": sequent.CodeUnavailable,
		"42P01": sequent.CodeCorrupt, "42703": sequent.CodeCorrupt, "54000": sequent.CodeLimitExceeded, "42601": sequent.CodeInternal,
	} {
		e, _ := errors.AsType[*sequent.Error](wrap(t.Context(), &pgconn.PgError{Code: code}))
		if e.Code != want || want != sequent.CodeInternal && e.Fix == "" {
			t.Errorf("%s is %+v, want code %s and a fix", code, e, want)
		}
	}
}

// TestServerUnreachable kills and stops the server while clients append. Every
// acknowledged thought is stored once, and every error has a code and a fix.
func TestServerUnreachable(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	address := own.Schema(t)
	var engines []*sequent.Engine
	for range 2 {
		s, err := Open(t.Context(), Config{URL: address, RetryTimeout: 300 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		engines = append(engines, sequent.New(sequent.Config{Store: s}))
	}
	c := newChaos(engines...)
	c.start(t, 8)
	for _, stopServer := range []func(testing.TB){own.Kill, own.Shutdown} {
		c.more(t, 50)
		stopServer(t)
		time.Sleep(time.Second) // longer than calls retry
		own.Start(t)
		c.more(t, 50)
	}
	c.check(t)
	if c.failures[sequent.CodeUnavailable] == 0 {
		t.Error("no call failed while the server was unreachable for longer than RetryTimeout")
	}
}

// A chaos are clients that append, two to each session, at several stores, while servers fail.
type chaos struct {
	engines  []*sequent.Engine
	stop     chan struct{}
	clients  sync.WaitGroup
	mu       sync.Mutex
	stored   map[sequent.ID][]string // acknowledged texts
	total    int
	slowest  time.Duration // of an acknowledged append
	failures map[sequent.Code]int
}

func newChaos(engines ...*sequent.Engine) *chaos {
	return &chaos{engines: engines, stop: make(chan struct{}), stored: make(map[sequent.ID][]string), failures: make(map[sequent.Code]int)}
}

func (c *chaos) start(t *testing.T, clients int) {
	for i := range clients {
		e, id := c.engines[i%len(c.engines)], sequent.ID(fmt.Sprint("session ", i/2))
		c.clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-c.stop:
					return
				default:
				}
				text := fmt.Sprintf("heron %d/%d", i, n)
				start := time.Now()
				_, err := e.Ensure(t.Context(), id, adding(text))
				c.mu.Lock()
				if err == nil {
					c.stored[id] = append(c.stored[id], text)
					c.total++
					c.slowest = max(c.slowest, time.Since(start))
				} else if c.failures[sequent.CodeOf(err)]++; t.Failed() {
					// one is enough
				} else if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Fix == "" {
					t.Errorf("error without a fix: %v", err)
				} else if e.Code != sequent.CodeUnavailable && e.Code != sequent.CodeBusy {
					t.Errorf("an append failed: %v", err)
				}
				c.mu.Unlock()
			}
		})
	}
	t.Cleanup(func() { c.end() })
}

func (c *chaos) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// more waits until n more appends are acknowledged.
func (c *chaos) more(t *testing.T, n int) {
	t.Helper()
	enough := c.count() + n
	eventually(t, fmt.Sprint(n, " more appends"), func() bool { return c.count() >= enough })
}

func (c *chaos) end() {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.clients.Wait()
}

// check ends the clients and checks what is stored.
func (c *chaos) check(t *testing.T) {
	t.Helper()
	c.end()
	t.Logf("%d acknowledged thoughts, the slowest after %v; failed calls: %v", c.total, c.slowest, c.failures)
	for id, want := range c.stored {
		h, entries, err := c.engines[0].Entries(t.Context(), id, sequent.Position{})
		if err != nil {
			t.Fatal(err)
		}
		if v := sequent.Verify(h, entries); v.Fault != nil {
			t.Errorf("%s: %v", id, v.Fault)
		}
		got := make(map[string]int)
		for i, th := range sequent.Thoughts(entries) {
			if th.Seq != i+1 {
				t.Errorf("%s: thought %d has Seq %d", id, i+1, th.Seq)
			}
			got[th.Text]++
		}
		for text, n := range got {
			if n != 1 {
				t.Errorf("%s: %q is stored %d times", id, text, n)
			}
		}
		for _, text := range want {
			if got[text] != 1 {
				t.Errorf("%s: acknowledged thought %q is stored %d times", id, text, got[text])
			}
		}
	}
}

// TestNotificationsLost breaks the connection for notifications while a session is
// followed.
func TestNotificationsLost(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	url := server.Schema(t)
	a, b := openAt(t, url), openAt(t, url)
	defer a.Close()
	defer b.Close()
	e := sequent.New(sequent.Config{Store: a})
	k := sequent.Key{ID: "a"}
	if _, err := e.Ensure(t.Context(), k.ID, adding("0")); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < 6; i++ {
		h, _, err := b.Load(t.Context(), k, sequent.Position{})
		if err != nil {
			t.Fatal(err)
		}
		w, err := b.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.Add(k)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if i > 1 { // the first round has started the listener
			execute(t, url, fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN "%s"%%'`, b.channel))
		}
		if _, err := e.Ensure(t.Context(), k.ID, adding(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		for {
			now, _, err := b.Load(ctx, k, h.Position())
			if err == nil && now.Version == h.Version {
				if _, err = w.Wait(ctx); err == nil {
					continue
				}
			}
			if err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
			break
		}
		cancel()
		w.Close()
	}
}

// TestLockedRow locks sessions, one that exists and one that is being inserted, while clients
// append to them and to others.
func TestLockedRow(t *testing.T) {
	t.Parallel()
	needtest.Long(t)
	for name, schema := range map[string]func(testing.TB) string{"one server": server.Schema, "Citus": citus.Schema} {
		t.Run(name, func(t *testing.T) { lockedRow(t, schema(t)) })
	}
}

func lockedRow(t *testing.T, url string) {
	s := openAt(t, url)
	defer s.Close()
	e := sequent.New(sequent.Config{Store: s})
	if _, err := e.Ensure(t.Context(), "locked", adding("0")); err != nil {
		t.Fatal(err)
	}
	var transactions []pgx.Tx
	for text, id := range map[string]sequent.ID{
		"SELECT FROM tool_sessions WHERE part = $1 AND id = 'locked' FOR UPDATE": "locked",
		`INSERT INTO tool_sessions (part, owner, id, epoch, version, len, entries, branches, revisions, notes, bytes, head, seal,
			updated, period, created, expires, scope, project, state, request_key, request_digest, header)
			VALUES ($1, '', 'new', 1, 1, 0, 0, 0, 0, 0, 0, '', '', 0, 0, 0, 0, '', '', 'active', '', '', '{}')`: "new",
	} {
		conn, err := pgx.ConnectConfig(t.Context(), s.config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(t.Context()))
		tx, err := conn.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), text, partOf(sequent.Key{ID: id}))
		}
		if err != nil {
			t.Fatal(err)
		}
		transactions = append(transactions, tx)
	}
	const writers = 4
	done := make(chan error, 2*writers)
	for i := range writers {
		for _, id := range []sequent.ID{"locked", "new"} {
			go func() {
				_, err := e.Ensure(t.Context(), id, adding(fmt.Sprint("late ", i)))
				done <- err
			}()
		}
	}
	c := newChaos(e)
	c.start(t, 8)
	c.more(t, 300)
	if n := len(done); n > 0 {
		t.Errorf("%d appends to locked sessions ended while they were locked, the first with %v", n, <-done)
	}
	c.check(t)
	if len(c.failures) > 0 {
		t.Errorf("appends to other sessions failed: %v", c.failures)
	}
	for _, tx := range transactions {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for id, want := range map[sequent.ID]int{"locked": 1 + writers, "new": writers} {
		if got, err := e.Session(t.Context(), id); err != nil || got.Len() != want {
			t.Errorf("Session(%s) = %v, %v, want %d thoughts", id, got, err, want)
		}
	}
}
