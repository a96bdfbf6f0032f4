package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// putSessions stores sessions s0 to s5 of the local user and o0 to o2 of owner o.
// Their orders by creation and by last update differ.
func putSessions(t *testing.T, s sequent.Store) {
	t.Helper()
	var batch []*sequent.Write
	session := func(owner, id, scope string, created, updated, expires int) {
		w := begin(sequent.Key{Owner: owner, ID: sequent.ID(id)}, id)
		w.Header.Epoch = int64(len(batch) + 1)
		w.Header.Scope = scope
		w.Header.Created = start.Add(time.Duration(created) * time.Minute)
		w.Header.Updated = start.Add(time.Duration(updated) * time.Minute)
		if expires != 0 {
			w.Header.Expires = start.Add(time.Duration(expires) * time.Minute)
		}
		batch = append(batch, w)
	}
	session("", "s0", "", -1, 50, 0)
	session("", "s1", "x", 1, 40, 0)
	session("", "s2", "y", 2, 30, 0)
	session("", "s3", "x", 3, 60, 100)
	session("", "s4", "", 4, 10, 200)
	session("", "s5", "x", 5, 5, 0)
	session("o", "o0", "x", 0, 45, 0)
	session("o", "o1", "", 6, 35, 0)
	session("o", "o2", "z", 7, 70, 150)
	put(t, s, batch...)
}

// ids returns the ids of all pages of a query.
func ids(t *testing.T, s sequent.Store, q sequent.Query) string {
	t.Helper()
	var all []string
	for range 1000 {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatalf("List(%+v): %v", q, err)
		}
		if q.Limit > 0 && len(page.Headers) > q.Limit {
			t.Fatalf("List(%+v) returned %d headers, more than the limit", q, len(page.Headers))
		}
		for _, h := range page.Headers {
			all = append(all, string(h.ID))
		}
		if page.Next == "" {
			return strings.Join(all, " ")
		}
		if len(page.Headers) == 0 {
			t.Fatalf("List(%+v) returned an empty page and a cursor", q)
		}
		q.Cursor = page.Next
	}
	t.Fatalf("List(%+v) has more than 1,000 pages", q)
	return ""
}

var listTests = []test{
	{"the sessions that a query selects, in its order", func(t *testing.T, h Harness) {
		s := h.open(t)
		putSessions(t, s)
		at := func(minute int) time.Time { return start.Add(time.Duration(minute) * time.Minute) }
		for _, test := range []struct {
			q    sequent.Query
			want string
		}{
			{sequent.Query{}, "s3 s0 s1 s2 s4 s5"},
			{sequent.Query{Owner: "o"}, "o2 o0 o1"},
			{sequent.Query{Owner: "nobody"}, ""},
			{sequent.Query{AllOwners: true}, "o2 s3 s0 o0 s1 o1 s2 s4 s5"},
			{sequent.Query{AllOwners: true, Owner: "o"}, "o2 s3 s0 o0 s1 o1 s2 s4 s5"},
			{sequent.Query{ByCreated: true}, "s5 s4 s3 s2 s1 s0"},
			{sequent.Query{ByCreated: true, Owner: "o"}, "o2 o1 o0"},
			{sequent.Query{ByCreated: true, AllOwners: true}, "o2 o1 s5 s4 s3 s2 s1 o0 s0"},
			{sequent.Query{Scope: "x"}, "s3 s1 s5"},
			{sequent.Query{Scope: "x", ByCreated: true}, "s5 s3 s1"},
			{sequent.Query{Scope: "x", AllOwners: true}, "s3 o0 s1 s5"},
			{sequent.Query{Scope: "x", Owner: "o"}, "o0"},
			{sequent.Query{Scope: "none"}, ""},
			{sequent.Query{Since: at(30)}, "s3 s0 s1 s2"},
			{sequent.Query{Since: at(30).Add(time.Microsecond)}, "s3 s0 s1"},
			{sequent.Query{Since: at(30), ByCreated: true}, "s3 s2 s1 s0"},
			{sequent.Query{Since: at(71)}, ""},
			{sequent.Query{Before: at(30)}, "s4 s5"},
			{sequent.Query{Expired: at(100), Begun: at(0)}, "s3"},
			{sequent.Query{Now: at(99)}, "s3 s0 s1 s2 s4 s5"},
			{sequent.Query{Now: at(100)}, "s0 s1 s2 s4 s5"},
			{sequent.Query{Now: at(200)}, "s0 s1 s2 s5"},
			{sequent.Query{Now: at(200), AllOwners: true, ByCreated: true, Scope: "x"}, "s5 s1 o0"},
		} {
			for _, limit := range []int{0, 1, 2, 3, 1000} {
				test.q.Limit = limit
				if got := ids(t, s, test.q); got != test.want {
					t.Errorf("List(%+v) = %q, want %q", test.q, got, test.want)
				}
			}
		}
	}},
	{"the sessions of a project", func(t *testing.T, h Harness) {
		s := h.open(t)
		var batch []*sequent.Write
		for i, project := range []string{"a", "", "b", "a", "A"} {
			w := begin(key(fmt.Sprint("s", i)), "the pool")
			w.Header.Origin.Project = project
			w.Header.Created = start.Add(time.Duration(i) * time.Minute)
			prove(w)
			batch = append(batch, w)
		}
		put(t, s, batch...)
		for project, want := range map[string]string{"": "s4 s3 s2 s1 s0", "a": "s3 s1 s0", "b": "s2 s1", "c": "s1"} {
			for _, limit := range []int{1, 2, 1000} {
				if got := ids(t, s, sequent.Query{Project: project, ByCreated: true, Limit: limit}); got != want {
					t.Errorf("List of project %q = %q, want %q", project, got, want)
				}
			}
			elsewhere := map[string]string{"": "s4 s3 s2 s1 s0", "a": "s4 s2", "b": "s4 s3 s0", "c": "s4 s3 s2 s0"}[project]
			if got := ids(t, s, sequent.Query{Elsewhere: project, ByCreated: true}); got != elsewhere {
				t.Errorf("List of projects other than %q = %q, want %q", project, got, elsewhere)
			}
			hits, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Project: project, Text: "pool"})
			if err != nil {
				t.Fatal(err)
			}
			found := make([]string, len(hits.Hits))
			for i, hit := range hits.Hits {
				found[i] = string(hit.Key.ID)
			}
			slices.Sort(found)
			slices.Reverse(found)
			if got := strings.Join(found, " "); got != want {
				t.Errorf("Search in project %q found %q, want %q", project, got, want)
			}
		}
	}},
	{"the sessions that a request began", func(t *testing.T, h Harness) {
		s := h.open(t)
		var batch []*sequent.Write
		session := func(owner, id, requestKey, digest string, minute int) *sequent.Write {
			w := begin(sequent.Key{Owner: owner, ID: sequent.ID(id)}, id)
			w.Header.Created = start.Add(time.Duration(minute) * time.Minute)
			w.Entries[0].Thought.Request = sequent.Request{Key: requestKey, Digest: digest}
			w.Header.Request = w.Entries[0].Thought.Request
			prove(w)
			batch = append(batch, w)
			return w
		}
		session("", "none", "", "", 0)
		session("", "old", "k", "d", 1)
		session("", "new", "k", "d", 2)
		session("", "otherdigest", "k", "e", 3)
		session("o", "otherowner", "k", "d", 4)
		odd := session("", "odd", "a\x00b", "d", 5)
		empty := begin(key("empty"))
		put(t, s, append(batch, empty)...)
		second := next(odd.Header, "second")
		second.Entries[0].Thought.Request = sequent.Request{Key: "k", Digest: "d"}
		prove(second)
		put(t, s, second)
		k := sequent.Request{Key: "k", Digest: "d"}
		for _, test := range []struct {
			q    sequent.Query
			want string
		}{
			{sequent.Query{Request: k, ByCreated: true}, "new old"},
			{sequent.Query{Request: k}, "new old"},
			{sequent.Query{Request: k, ByCreated: true, Begun: start.Add(2 * time.Minute)}, "new"},
			{sequent.Query{Request: k, ByCreated: true, Begun: start.Add(2*time.Minute + time.Microsecond)}, ""},
			{sequent.Query{Request: k, Owner: "o"}, "otherowner"},
			{sequent.Query{Request: k, AllOwners: true, ByCreated: true}, "otherowner new old"},
			{sequent.Query{Request: sequent.Request{Key: "k", Digest: "x"}}, ""},
			{sequent.Query{Request: sequent.Request{Key: "a\x00b", Digest: "d"}}, "odd"},
			{sequent.Query{Begun: start.Add(3 * time.Minute), ByCreated: true}, "odd otherdigest"},
		} {
			for _, limit := range []int{0, 1} {
				test.q.Limit = limit
				got := ids(t, s, test.q)
				if !test.q.ByCreated {
					sorted := strings.Fields(got)
					slices.Sort(sorted)
					got = strings.Join(sorted, " ")
				}
				if got != test.want {
					t.Errorf("List(%+v) = %q, want %q", test.q, got, test.want)
				}
			}
		}
	}},
	{"a hundred sessions per page by default", func(t *testing.T, h Harness) {
		s := h.open(t)
		var batch []*sequent.Write
		for i := range 101 {
			batch = append(batch, begin(key(fmt.Sprint(i))))
		}
		put(t, s, batch...)
		page, err := s.List(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 100 || page.Next == "" {
			t.Fatalf("List = %d headers, next %q, error %v; want 100 and a cursor", len(page.Headers), page.Next, err)
		}
		page, err = s.List(t.Context(), sequent.Query{Cursor: page.Next})
		if err != nil || len(page.Headers) != 1 || page.Next != "" {
			t.Fatalf("second page = %d headers, next %q, error %v; want 1 and no cursor", len(page.Headers), page.Next, err)
		}
	}},
	{"sessions with equal times are listed once each", func(t *testing.T, h Harness) {
		s := h.open(t)
		var batch []*sequent.Write
		var want []string
		for i, name := range names {
			for j := range 3 {
				w := begin(sequent.Key{Owner: fmt.Sprint("owner", j), ID: sequent.ID(name)})
				w.Header.Epoch = int64(i%2 + 1)
				batch = append(batch, w)
				want = append(want, w.Header.Owner+"/"+name)
			}
		}
		put(t, s, batch...)
		slices.Sort(want)
		for _, q := range []sequent.Query{
			{AllOwners: true, Limit: 1},
			{AllOwners: true, Limit: 7, ByCreated: true},
		} {
			var got []string
			for {
				page, err := s.List(t.Context(), q)
				if err != nil {
					t.Fatalf("List(%+v): %v", q, err)
				}
				for _, h := range page.Headers {
					got = append(got, h.Owner+"/"+string(h.ID))
				}
				if q.Cursor = page.Next; page.Next == "" {
					break
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("all pages of List(%+v) = %q, want %q", q, got, want)
			}
		}
	}},
	{"paging during writes", func(t *testing.T, h Harness) {
		s := h.open(t)
		heads := make(map[string]sequent.Header)
		for i := range 20 {
			w := begin(key(fmt.Sprintf("s%02d", i)), "one")
			w.Header.Updated = start.Add(time.Duration(i) * time.Minute)
			put(t, s, w)
			heads[string(w.Header.ID)] = w.Header
		}
		seen := make(map[string]int)
		q := sequent.Query{Limit: 3}
		for i := 0; ; i++ {
			page, err := s.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range page.Headers {
				seen[string(h.ID)]++
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
			// Update the first session of the page, add a new one, and delete the
			// last, which is the cursor's.
			w := add(heads[string(page.Headers[0].ID)], "more")
			w.Header.Updated = start.Add(time.Hour + time.Duration(i)*time.Minute)
			fresh := begin(key(fmt.Sprintf("new%02d", i)), "new")
			fresh.Header.Updated = w.Header.Updated
			put(t, s, w, fresh)
			if err := s.Delete(t.Context(), page.Headers[len(page.Headers)-1].Key, 0); err != nil {
				t.Fatal(err)
			}
		}
		for id := range heads {
			if seen[id] != 1 {
				t.Errorf("%s was listed %d times, want once", id, seen[id])
			}
		}
	}},
	{"an invalid cursor", func(t *testing.T, h Harness) {
		s := h.open(t)
		putSessions(t, s)
		for _, cursor := range []string{"x", "0", "{}", "🧠", "AAAA", "' OR 1=1", strings.Repeat("A", 10_000)} {
			_, err := s.List(t.Context(), sequent.Query{Cursor: cursor})
			if sequent.CodeOf(err) != sequent.CodeInvalidQuery {
				t.Errorf("List with cursor %.20q: %v, want code %s", cursor, err, sequent.CodeInvalidQuery)
			}
		}
	}},
	{"a changed session moves to the front", func(t *testing.T, h Harness) {
		s := h.open(t)
		putSessions(t, s)
		head, _ := load(t, s, key("s5"))
		w := next(head, "again")
		w.Header.Updated = start.Add(time.Hour * 3)
		put(t, s, w)
		if got, want := ids(t, s, sequent.Query{}), "s5 s3 s0 s1 s2 s4"; got != want {
			t.Errorf("List = %q, want %q", got, want)
		}
		if got, want := ids(t, s, sequent.Query{ByCreated: true}), "s5 s4 s3 s2 s1 s0"; got != want {
			t.Errorf("List by creation = %q, want %q", got, want)
		}
	}},
}
