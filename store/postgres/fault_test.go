//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/pgtest"
)

// exec runs statements beside the store.
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

func TestManyMigrateAtOnce(t *testing.T) {
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
		h, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
		if err != nil || h.Len != 10 || len(log) != 10 {
			t.Errorf("after ten replicas there are %d thoughts, error %v", len(log), err)
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
		cfg.Patience = 50 * time.Millisecond
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
		exec(t, url, "UPDATE sequent_schema SET version = 99")
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
		t.Run("an odd address", func(t *testing.T) { refused(t, Config{URL: url}, sequent.CodeUnavailable) })
	}
}

// TestServerGoesAway lets many append while the server crashes and is stopped:
// what was acknowledged is there, once, and calls that failed say why.
func TestServerGoesAway(t *testing.T) {
	t.Parallel()
	var own pgtest.Server
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	url := own.Schema(t)
	open := func() *Store {
		s, err := Open(t.Context(), Config{URL: url, Patience: 300 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
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
		id := sequent.ID(fmt.Sprint("session ", i/2)) // each from both replicas
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
						t.Errorf("an error without advice: %v", err)
					}
				}
				mu.Unlock()
			}
		})
	}
	// Somebody follows at the second replica all the while.
	followed := make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		k := sequent.Key{ID: "session 0"}
		var have sequent.Position
		for {
			if err := stores[1].Wait(ctx, k, have); ctx.Err() != nil {
				break
			} else if err != nil {
				time.Sleep(20 * time.Millisecond) // it is away
				continue
			}
			if h, _, err := stores[1].Load(ctx, k, have); err == nil {
				have = h.Position()
			}
			select {
			case followed <- have.Len:
			case <-ctx.Done():
			}
		}
		close(followed)
	}()
	last := 0
	drain := func(until func() bool) {
		for deadline := time.After(30 * time.Second); !until(); {
			select {
			case last = <-followed:
			case <-time.After(20 * time.Millisecond):
			case <-deadline:
				t.Fatalf("it takes too long; the follower is at %d", last)
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
	for _, end := range []func(testing.TB){own.Kill, own.Shutdown} {
		before := count()
		drain(func() bool { return count() > before+50 })
		end(t)
		begun := time.Now()
		drain(func() bool { return time.Since(begun) > time.Second })
		own.Start(t)
		before = count()
		drain(func() bool { return count() > before+50 }) // it recovers by itself
	}
	close(stop)
	go func() { wg.Wait(); cancel() }()
	drain(func() bool { return ctx.Err() != nil })
	t.Logf("%d thoughts were acknowledged; calls that failed: %v", count(), failures)
	for code := range failures {
		if code != sequent.CodeUnavailable && code != sequent.CodeBusy {
			t.Errorf("calls failed with the code %s", code)
		}
	}
	if failures[sequent.CodeUnavailable] == 0 {
		t.Error("no call failed while the server was away for longer than the patience")
	}
	for id, want := range acknowledged {
		h, log, err := stores[0].Load(t.Context(), sequent.Key{ID: id}, sequent.Position{})
		if err != nil || h.Len != len(log) {
			t.Fatalf("Load(%s) = %d thoughts under %d, error %v", id, len(log), h.Len, err)
		}
		got := make(map[string]int)
		for i, th := range log {
			if th.Seq != i+1 {
				t.Errorf("%s: thought %d has Seq %d", id, i+1, th.Seq)
			}
			got[th.Text]++
		}
		for _, text := range want {
			if got[text] != 1 {
				t.Errorf("%s: %q, which was acknowledged, is there %d times", id, text, got[text])
			}
		}
	}
}

// TestFollowersMissNothing breaks the connection that notifications come on.
func TestFollowersMissNothing(t *testing.T) {
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
		h, _, err := b.Load(t.Context(), k, sequent.Position{})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- b.Wait(t.Context(), k, h.Position()) }()
		if i > 1 { // it listens by now
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
			t.Fatalf("the follower was not woken the time %d", i)
		}
	}
}

func TestPack(t *testing.T) {
	for _, s := range []string{"", "a", "\x00", "a\x00b", "\xff", coded, coded + "x", "\x01", strings.Repeat("é", 1000), "\x00" + coded} {
		packed := pack(s)
		if strings.Contains(packed, "\x00") {
			t.Errorf("pack(%q) = %q", s, packed)
		}
		if got, err := unpack(packed); err != nil || got != s {
			t.Errorf("unpack(pack(%q)) = %q, %v", s, got, err)
		}
	}
	if _, err := unpack(coded + "*"); sequent.CodeOf(err) != sequent.CodeCorrupt {
		t.Errorf("unpack of damage: %v", err)
	}
	if pack("plain") != "plain" || !slices.Equal([]byte(pack("é")), []byte("é")) {
		t.Error("ordinary texts are not as they were")
	}
}
