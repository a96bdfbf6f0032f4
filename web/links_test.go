package web_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/web"
)

// A link ends with its session, and a later session with the same id has none of its links.
func TestLinkEndsWithItsSession(t *testing.T) {
	t.Parallel()
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store})
	think(t, e, "plan", "One.")
	link, secret, cookie := made(t, url, "", `{"id":"plan"}`)
	base := url + "/api/v1/linked/" + link.ID + "/"
	next := events(t, base+"events", "", "Cookie", cookie)
	next()
	over := func(when string) {
		t.Helper()
		for _, name := range []string{"session", "events"} {
			if status, body, _ := ask(t, "GET", base+name, "", "Cookie", cookie); status != http.StatusUnauthorized || strings.Contains(body, "plan") {
				t.Errorf("%s, %s: %d %s", when, name, status, body)
			}
		}
		if status, body, _ := ask(t, "POST", url+"/api/v1/linked", `{"secret":"`+secret+`"}`, "Content-Type", "application/json"); status != http.StatusUnauthorized {
			t.Errorf("%s, opened: %d %s", when, status, body)
		}
		if _, body, _ := ask(t, "GET", url+"/api/v1/links", ""); body != `{"links":[]}`+"\n" {
			t.Errorf("%s, listed: %s", when, body)
		}
	}
	if err := e.Delete(t.Context(), "plan"); err != nil {
		t.Fatal(err)
	}
	if event, _, data := next(); event != "revoked" {
		t.Errorf("after the deletion: %s %s", event, data)
	}
	over("deleted")
	think(t, e, "plan", "Another.")
	over("begun again")
}

// A session has a hundred links at a time, of which only those that have not expired count.
func TestLinkLimits(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store, Now: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	think(t, e, "plan", "One.")
	link := func(body string, want int) {
		t.Helper()
		if status, text, _ := ask(t, "POST", url+"/api/v1/links", body, "Content-Type", "application/json"); status != want {
			t.Fatalf("%s: %d %s", body, status, text)
		}
	}
	for range 100 {
		link(`{"id":"plan","seconds":3600}`, http.StatusOK)
	}
	link(`{"id":"plan"}`, http.StatusRequestEntityTooLarge)
	later.Store(int64(time.Hour))
	link(`{"id":"plan"}`, http.StatusOK)
	if _, body, _ := ask(t, "GET", url+"/api/v1/links", ""); strings.Count(body, `"id"`) != 1 {
		t.Errorf("after an hour: %s", body)
	}
	for _, id := range []string{"0", "%20"} { // no beginning of an id
		if status, body, _ := ask(t, "DELETE", url+"/api/v1/links/"+id, ""); status != http.StatusNotFound {
			t.Errorf("%q was revoked: %d %s", id, status, body)
		}
	}
}

// plainStore is a store that keeps no values.
type plainStore struct{ sequent.Store }

// Without a place to keep them there are no links and no codes, and the server says so.
func TestWithoutValues(t *testing.T) {
	t.Parallel()
	store := plainStore{sequent.NewMemoryStore()}
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store, Auth: tokens{"a": "alice"}})
	think(t, e.Owned("alice"), "plan", "One.")
	for path, body := range map[string]string{"links": `{"id":"plan"}`, "login/code": "", "linked": `{"secret":"x"}`} {
		status, text, _ := ask(t, "POST", url+"/api/v1/"+path, body, append(bearer("a"), "Content-Type", "application/json")...)
		if status != http.StatusForbidden || !strings.Contains(text, "cannot keep links and codes") {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
}

// forgedStore has another text of the second thought than was recorded.
type forgedStore struct{ sequent.Store }

func (s forgedStore) Unwrap() sequent.Store { return s.Store }

func (s forgedStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	h, entries, err := s.Store.Load(ctx, k, have)
	entries = slices.Clone(entries)
	for i := range entries {
		if entries[i].Thought.Seq == 2 {
			entries[i].Thought.Text = "Forged."
		}
	}
	return h, entries, err
}

// A session that is not what was recorded is shown, and marked wherever it is.
func TestFault(t *testing.T) {
	t.Parallel()
	store := forgedStore{sequent.NewMemoryStore()}
	think(t, sequent.New(sequent.Config{Store: store.Store}), "plan", "One.", "Two.", "Three.")
	e := sequent.New(sequent.Config{Store: store})
	url := serve(t, web.Config{Engine: e, Store: store})
	link, _, cookie := made(t, url, "", `{"id":"plan"}`)
	const mark = "thought 2 was altered"
	for _, path := range []string{"session?id=plan", "linked/" + link.ID + "/session", "export?id=plan&format=html"} {
		if status, body, _ := ask(t, "GET", url+"/api/v1/"+path, "", "Cookie", cookie); status != http.StatusOK || !strings.Contains(body, mark) {
			t.Errorf("%s: %d %.2000s", path, status, body)
		}
	}
	if event, _, data := events(t, url+"/api/v1/events?id=plan", "")(); event != "session" || !strings.Contains(data, mark) {
		t.Errorf("the event %s %s", event, data)
	}
	if status, body, _ := ask(t, "POST", url+"/api/v1/notes", `{"id":"plan","seq":1,"kind":"wrong"}`, "Content-Type", "application/json"); status != http.StatusConflict || !strings.Contains(body, "not what was recorded") {
		t.Errorf("a note: %d %s", status, body)
	}
}
