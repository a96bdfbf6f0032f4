package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

// lines returns the requests of the entries in some files, which must be whole lines.
func lines(t *testing.T, texts ...[]byte) map[string]int {
	t.Helper()
	found := make(map[string]int)
	for _, text := range texts {
		if len(text) > 0 && text[len(text)-1] != '\n' {
			t.Errorf("the last line is not whole: %q", text[max(0, len(text)-200):])
		}
		for line := range bytes.Lines(text) {
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Errorf("%v: %s", err, line)
			}
			found[e.Request]++
		}
	}
	return found
}

// A file that is moved away while many calls write loses no line, and the log goes on in a new one.
func TestRotation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	l, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 400
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				if i%20 == 0 { // on Windows, an open file cannot be moved
					_ = os.Rename(path, fmt.Sprintf("%s.%d-%d", path, w, i))
				}
				l.Record(&Entry{Request: fmt.Sprintf("%d-%d", w, i)})
			}
		})
	}
	wait.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) < 2 && runtime.GOOS != "windows" {
		t.Fatal(files, err)
	}
	var texts [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	found := lines(t, texts...)
	if len(found) != writers*each || slices.Max(slices.Collect(maps.Values(found))) > 1 {
		t.Errorf("%d lines in %d files, want %d, each once", len(found), len(files), writers*each)
	}
}

// A log goes on in the file that is there, which nobody else can read.
func TestMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	for _, request := range []string{"1", "2"} {
		l, err := Open(Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		l.Record(&Entry{Request: request})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	state, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && state.Mode() != fileMode {
		t.Errorf("%v, %v", state.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if found := lines(t, text); err != nil || len(found) != 2 {
		t.Errorf("%v, %v", found, err)
	}
	for _, bad := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none", "audit.log")} {
		if _, err := Open(Config{Path: bad}); err == nil {
			t.Errorf("%s was opened", bad)
		}
	}
}

// A disk is a writer that can be full: it takes half of what is written then.
type disk struct {
	full atomic.Bool
	mu   sync.Mutex
	text []byte
}

func (d *disk) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.full.Load() {
		d.text = append(d.text, b...)
		return len(b), nil
	}
	d.text = append(d.text, b[:len(b)/2]...)
	return len(b) / 2, syscall.ENOSPC
}

// While a disk is full, calls go on without waiting. The lines are written when there is room
// again, each once and whole, and the log of the program says both things once.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out disk
		var said bytes.Buffer
		l, err := Open(Config{Out: &out, Logger: slog.New(slog.NewTextHandler(&said, nil))})
		if err != nil {
			t.Fatal(err)
		}
		l.Record(&Entry{Request: "0"})
		out.full.Store(true)
		for i := range 100 {
			l.Record(&Entry{Request: fmt.Sprint(1 + i)})
		}
		if lost, failing := l.State(); lost != 0 || !failing {
			t.Errorf("the state is %d, %t", lost, failing)
		}
		time.Sleep(5 * retryEvery)
		out.full.Store(false)
		time.Sleep(2 * retryEvery)
		if lost, failing := l.State(); lost != 0 || failing || len(out.text) == 0 {
			t.Errorf("the state is %d, %t", lost, failing)
		}
		l.Record(&Entry{Request: "101"})
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		found := lines(t, out.text)
		for i := range 102 {
			if found[fmt.Sprint(i)] != 1 {
				t.Errorf("line %d is there %d times", i, found[fmt.Sprint(i)])
			}
		}
		if a, b := strings.Count(said.String(), "cannot be written"), strings.Count(said.String(), "can be written again"); a != 1 || b != 1 {
			t.Errorf("logged:\n%s", said.String())
		}
	})
}

// hanging is a writer that hangs until it is closed.
type hanging chan struct{}

func (h hanging) Write(b []byte) (int, error) {
	<-h
	return len(b), nil
}

// Probes see a write that hangs, instead of waiting for it.
func TestHangingDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := make(hanging)
		l, err := Open(Config{Out: out})
		if err != nil {
			t.Fatal(err)
		}
		go l.Record(&Entry{Request: "1"})
		synctest.Wait()
		if _, failing := l.State(); failing {
			t.Error("a write that has just begun is taken for a failure")
		}
		time.Sleep(2 * hangingAfter)
		if _, failing := l.State(); !failing {
			t.Error("a write that hangs is not reported")
		}
		close(out)
		synctest.Wait()
		if _, failing := l.State(); failing {
			t.Error("a write that has ended is reported")
		}
	})
}

// Lines for which there is no memory are counted, in the log too.
func TestLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out disk
		out.full.Store(true)
		l, err := Open(Config{Out: &out})
		if err != nil {
			t.Fatal(err)
		}
		const calls = 3 * maxWaiting / (100 << 10) / 2
		subject := strings.Repeat("a", 100<<10)
		for range calls {
			l.Record(&Entry{Subject: subject})
		}
		lost, _ := l.State()
		if lost == 0 {
			t.Fatal("no line was lost")
		}
		out.full.Store(false)
		time.Sleep(3 * retryEvery)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if want := fmt.Sprintf(`"lostLines":%d}`, lost); !strings.Contains(string(out.text), want) || uint64(bytes.Count(out.text, []byte("\n"))) != calls-lost+1 {
			t.Errorf("%d of %d lines were lost, the log has %d", lost, calls, bytes.Count(out.text, []byte("\n")))
		}
	})
}

// What clients call themselves cannot begin a line or move a cursor.
func TestForgery(t *testing.T) {
	t.Parallel()
	var out disk
	l, err := Open(Config{Out: &out})
	if err != nil {
		t.Fatal(err)
	}
	evil := "a\n{\"who\":\"local\"}\r\u2028\u2029\u0085\x1b[2J\x7f\u009b1A\u202e\U000e0001\x00\xff"
	l.Record(&Entry{Subject: evil, Client: evil, Agent: evil, Request: evil, Sessions: []Session{{ID: evil, Owner: evil}}})
	l.Record(&Entry{Client: strings.Repeat("ü", 1000)})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text := string(out.text)
	for _, r := range text[:len(text)-1] {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\u202e') {
			t.Errorf("the log has %U", r)
		}
	}
	list := strings.SplitAfter(text, "\n")
	if len(list) != 3 {
		t.Fatalf("%d lines:\n%s", len(list)-1, text)
	}
	var e Entry
	if err := json.Unmarshal([]byte(list[0]), &e); err != nil {
		t.Error(err)
	}
	want := strings.NewReplacer("\xff", "\ufffd").Replace(evil)
	if e.Client != want || e.Sessions[0].Owner != want {
		t.Errorf("got %q, want %q", e.Client, want)
	}
	if err := json.Unmarshal([]byte(list[1]), &e); err != nil || len([]rune(e.Client)) != maxText {
		t.Errorf("%d characters, %v", len([]rune(e.Client)), err)
	}
}

// An entry names the sessions that calls use, whether they are refused or not, and none that
// cannot be.
func TestUsed(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{Used: Used}).Owned("alice")
	ctx, got := Begin(t.Context(), time.Now())
	_, _ = e.Session(ctx, "plan")
	_, _ = e.Append(ctx, "plan", sequent.Draft{Text: "One."})
	_, _ = e.Session(ctx, "missing")
	_, _ = e.Session(ctx, "a\nb")
	_, _, _ = e.Entries(ctx, "read", sequent.Position{})
	_ = e.Delete(ctx, "gone")
	_, _ = e.Append(t.Context(), "without", sequent.Draft{Text: "One."})
	if _, err := e.Sessions(ctx, sequent.Query{}); err != nil {
		t.Fatal(err)
	}
	use := func(id string, changes bool) Session { return Session{ID: id, Owner: "alice", Changes: changes} }
	want := []Session{use("plan", true), use("missing", false), use("read", false), use("gone", true)}
	if !slices.Equal(got.Sessions, want) || got.More != 0 {
		t.Errorf("got %v and %d more, want %v", got.Sessions, got.More, want)
	}
	for i := range maxSessions {
		_, _ = e.Session(ctx, sequent.ID(fmt.Sprint(i)))
	}
	if len(got.Sessions) != maxSessions || got.More != 4 {
		t.Errorf("got %d and %d more", len(got.Sessions), got.More)
	}
}
