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

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// exec runs statements on a database without the store.
func exec(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, text := range statements {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
}

func TestConcurrentMigrate(t *testing.T) {
	t.Parallel()
	for range 5 {
		url := server.Schema(t)
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				s, err := Open(t.Context(), Config{URL: url, Connections: 2, Logger: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Errorf("replica %d: %v", i, err)
					return
				}
				defer s.Close()
				e := sequent.New(sequent.Config{Store: s})
				if _, err := e.Ensure(t.Context(), "a", adding(fmt.Sprint("from ", i))); err != nil {
					t.Errorf("replica %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		s := openAt(t, url)
		h, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{}, 0)
		if err != nil || h.Len != 10 || len(log) != 10 {
			t.Errorf("%d thoughts, error %v; want one from each of ten replicas", len(log), err)
		}
		s.Close()
	}
}

func adding(text string) func(*sequent.Change) error {
	return func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: c.Session().Len() + 1, Total: 100, Text: text, More: true})
		return err
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	refused := func(t *testing.T, cfg Config, want sequent.Code) {
		t.Helper()
		cfg.RetryTimeout = 50 * time.Millisecond
		s, err := Open(t.Context(), cfg)
		if err == nil {
			s.Close()
			t.Fatalf("Open succeeded, want code %s", want)
		}
		e, ok := errors.AsType[*sequent.Error](err)
		if !ok || e.Code != want || e.Msg == "" || e.Fix == "" {
			t.Errorf("Open = %v (code %s), want code %s and a fix", err, sequent.CodeOf(err), want)
		}
		if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
	t.Run("a newer format", func(t *testing.T) {
		url := server.Schema(t)
		openAt(t, url).Close()
		exec(t, url, "UPDATE sequent_schema SET version = 99, oldest_writer = 99")
		refused(t, Config{URL: url}, sequent.CodeNewerSchema)
	})
	t.Run("no server", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		refused(t, Config{URL: "postgres://user:s3cret@" + address + "/db"}, sequent.CodeUnavailable)
	})
	t.Run("no database", func(t *testing.T) {
		u, err := url.Parse(server.Schema(t))
		if err != nil {
			t.Fatal(err)
		}
		u.User, u.Path = url.UserPassword("postgres", "s3cret"), "/nothing"
		refused(t, Config{URL: u.String()}, sequent.CodeUnavailable)
	})
	for _, url := range []string{"postgres://user:s3cret@host:port/db", "postgres://us er:s3cret@%zz", "password=s3cret port=x", "s3cret"} {
		t.Run("a malformed address", func(t *testing.T) { refused(t, Config{URL: url}, sequent.CodeUnavailable) })
	}
}

// TestServerUnreachable kills and stops the server while clients append. Every
// acknowledged thought is stored once, and every error has a code and a fix.
func TestServerUnreachable(t *testing.T) {
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	url := own.Schema(t)
	open := func() *Store {
		s, err := Open(t.Context(), Config{URL: url, RetryTimeout: 300 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	stores := []*Store{open(), open()}

	stop := make(chan struct{})
	var mu sync.Mutex
	acknowledged := make(map[sequent.ID][]string)
	failures := make(map[sequent.Code]int)
	var wg sync.WaitGroup
	for i := range 8 {
		e := sequent.New(sequent.Config{Store: stores[i%2]})
		id := sequent.ID(fmt.Sprint("session ", i/2)) // two clients, one at each replica
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				text := fmt.Sprintf("%d/%d", i, n)
				_, err := e.Ensure(t.Context(), id, adding(text))
				mu.Lock()
				if err == nil {
					acknowledged[id] = append(acknowledged[id], text)
				} else {
					failures[sequent.CodeOf(err)]++
					if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Fix == "" {
						t.Errorf("error without a fix: %v", err)
					}
				}
				mu.Unlock()
			}
		})
	}
	// A follower at the second replica.
	followed := make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(followed)
		k := sequent.Key{ID: "session 0"}
		var have sequent.Position
		w, err := stores[1].Watch(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		w.Add(k)
		for {
			if _, err := w.Wait(ctx); err != nil {
				return // at the end
			}
			if h, _, err := stores[1].Load(ctx, k, have, 0); err == nil {
				have = h.Position()
			}
			select {
			case followed <- have.Len:
			case <-ctx.Done():
			}
		}
	}()
	last := 0
	wait := func(until func() bool) {
		for deadline := time.After(30 * time.Second); !until(); {
			select {
			case last = <-followed:
			case <-time.After(20 * time.Millisecond):
			case <-deadline:
				t.Fatalf("timeout; the follower is at %d", last)
			}
		}
	}
	count := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, all := range acknowledged {
			n += len(all)
		}
		return n
	}
	for _, stopServer := range []func(testing.TB){own.Kill, own.Shutdown} {
		before := count()
		wait(func() bool { return count() > before+50 })
		stopServer(t)
		start := time.Now()
		wait(func() bool { return time.Since(start) > time.Second })
		own.Start(t)
		before = count()
		wait(func() bool { return count() > before+50 })
	}
	close(stop)
	go func() { wg.Wait(); cancel() }()
	wait(func() bool { return ctx.Err() != nil })
	t.Logf("%d acknowledged thoughts; failed calls: %v", count(), failures)
	for code := range failures {
		if code != sequent.CodeUnavailable && code != sequent.CodeBusy {
			t.Errorf("calls failed with code %s", code)
		}
	}
	if failures[sequent.CodeUnavailable] == 0 {
		t.Error("no call failed while the server was unreachable for longer than RetryTimeout")
	}
	for id, want := range acknowledged {
		h, log, err := stores[0].Load(t.Context(), sequent.Key{ID: id}, sequent.Position{}, 0)
		if err != nil || h.Len != len(log) {
			t.Fatalf("Load(%s) = %d thoughts, Len %d, error %v", id, len(log), h.Len, err)
		}
		got := make(map[string]int)
		for i, th := range sequent.Thoughts(log) {
			if th.Seq != i+1 {
				t.Errorf("%s: thought %d has Seq %d", id, i+1, th.Seq)
			}
			got[th.Text]++
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
		h, _, err := b.Load(t.Context(), k, sequent.Position{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := b.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.Add(k)
		done := make(chan error, 1)
		go func() {
			for {
				if now, _, err := b.Load(t.Context(), k, h.Position(), 0); err != nil || now.Position() != h.Position() {
					done <- err
					return
				}
				if _, err := w.Wait(t.Context()); err != nil {
					done <- err
					return
				}
			}
		}()
		if i > 1 { // the first round has started the listener
			exec(t, url, fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN "%s"%%'`, b.channel))
		}
		if _, err := e.Ensure(t.Context(), k.ID, adding(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("round %d: the change was not reported within 20 seconds", i)
		}
		w.Close()
	}
}

func TestPack(t *testing.T) {
	for _, s := range []string{"", "a", "\x00", "a\x00b", "\xff", encodedPrefix, encodedPrefix + "x", "\x01", strings.Repeat("é", 1000), "\x00" + encodedPrefix} {
		packed := pack(s)
		if strings.Contains(packed, "\x00") {
			t.Errorf("pack(%q) = %q, which contains U+0000", s, packed)
		}
		if got, err := unpack(packed); err != nil || got != s {
			t.Errorf("unpack(pack(%q)) = %q, %v", s, got, err)
		}
	}
	if _, err := unpack(encodedPrefix + "*"); sequent.CodeOf(err) != sequent.CodeCorrupt {
		t.Errorf("unpack of invalid base64 = %v, want code %s", err, sequent.CodeCorrupt)
	}
	for _, s := range []string{"plain", "é"} {
		if got := pack(s); got != s {
			t.Errorf("pack(%q) = %q, want it unchanged", s, got)
		}
	}
}
