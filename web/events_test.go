package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/web"
)

// A client that reads some events and connects again misses nothing and repeats nothing,
// and is told when the session is deleted.
func TestEvents(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e})
	think(t, e, "plan", "1")
	last, seqs := "", 0
	for round := range 5 {
		think(t, e, "plan", "a", "b", "c")
		next := events(t, url+"/api/v1/events?id=plan", last)
		for seqs < 1+3*(round+1) {
			event, id, data := next()
			var d web.Document
			if err := json.Unmarshal([]byte(data), &d); err != nil || event != "session" || d.Position != id {
				t.Fatal(event, data, err)
			}
			for _, r := range d.Rows {
				if seqs++; r.Seq != seqs {
					t.Fatalf("event %s has thought %d, want %d", id, r.Seq, seqs)
				}
			}
			last = id
		}
	}
	next := events(t, url+"/api/v1/events?id=plan", last)
	next()
	if err := e.Delete(t.Context(), "plan"); err != nil {
		t.Fatal(err)
	}
	if event, _, data := next(); event != "deleted" {
		t.Errorf("after the deletion: %s %s", event, data)
	}
	think(t, e, "plan", "another session")
	if event, _, data := events(t, url+"/api/v1/events?id=plan", last)(); event != "replaced" {
		t.Errorf("after another beginning: %s %s", event, data)
	}
}

// The list tells of sessions that change, and of those of others nothing.
func TestListEvents(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e})
	next := events(t, url+"/api/v1/events", "")
	if _, _, data := next(); data != `{"order":[],"changed":[],"more":false}` {
		t.Errorf("an empty store: %s", data)
	}
	think(t, e.Owned("bob"), "secret", "Bob's.")
	think(t, e, "one", "First.")
	if _, _, data := next(); !strings.HasPrefix(data, `{"order":["one"],"changed":[{"id":"one",`) || strings.Contains(data, "secret") {
		t.Errorf("a new session: %s", data)
	}
	if err := e.Delete(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if _, _, data := next(); !strings.HasPrefix(data, `{"order":[],"changed":[],"gone":[{"id":"one"}]`) {
		t.Errorf("a deletion: %s", data)
	}
}

// events opens a stream and returns a function that reads the next event. Headers are pairs.
func events(t *testing.T, url, last string, headers ...string) func() (event, id, data string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // an event may never come
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return func() (event, id, data string) {
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				event = value
			case "id":
				id = value
			case "data":
				return event, id, value
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return "", "", ""
	}
}
