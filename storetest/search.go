package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

var searchTests = []test{
	{"finds words, phrases and prefixes", searchLanguage},
	{"refuses invalid queries", searchRefuses},
	{"returns whole thoughts", searchReturnsThoughts},
	{"finds a thought once it is acknowledged", searchFindsAtOnce},
	{"finds thoughts of another Store", searchFindsOthers},
	{"searches one session", searchInSession},
	{"separates owners", searchOwners},
	{"omits expired sessions", searchExpired},
	{"omits deleted sessions", searchDeleted},
	{"pages without duplicates or gaps during writes", searchPages},
	{"refuses cursors of other queries", searchCursors},
	{"names a session once when asked to", searchDistinct},
	{"ranks like the memory store", searchRanks},
	{"finds inflections", searchInflections},
	{"finds thoughts with some of the words", searchPartly},
	{"pages thoughts with some of the words during writes", searchPartlyPages},
	{"does not panic on odd queries", searchOdd},
}

// find searches all sessions of the local user for text, and returns the texts of the
// hits that have all words, sorted; if none has, of those that have some.
func find(t *testing.T, s sequent.Store, text string) []string {
	t.Helper()
	all := hits(t, s, sequent.SearchQuery{Text: text})
	if len(all) > 0 && !all[0].Partial {
		all = slices.DeleteFunc(all, func(h sequent.Hit) bool { return h.Partial })
	}
	return texts(all)
}

// hits returns the hits of all pages of q.
func hits(t *testing.T, s sequent.Store, q sequent.SearchQuery) []sequent.Hit {
	t.Helper()
	var all []sequent.Hit
	for {
		page, err := sequent.SearchStore(t.Context(), s, q)
		if err != nil {
			t.Fatalf("Search(%+v): %v", q, err)
		}
		all = append(all, page.Hits...)
		if page.Next == "" {
			return all
		}
		if page.Next == q.Cursor {
			t.Fatalf("Search(%+v) returned the same cursor", q)
		}
		q.Cursor = page.Next
	}
}

func texts(all []sequent.Hit) []string {
	out := make([]string, 0, len(all))
	for _, h := range all {
		out = append(out, h.Thought.Text)
	}
	slices.Sort(out)
	return out
}

// finds fails the test unless a search for text finds exactly these texts.
func finds(t *testing.T, s sequent.Store, text string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := find(t, s, text); !slices.Equal(got, want) {
		t.Errorf("Search(%q)\n got %q\nwant %q", text, got, want)
	}
}

func searchLanguage(t *testing.T, h Harness) {
	const (
		cafe    = "The Crème Brûlée at the café was FLAWLESS."
		decomp  = "cre\u0300me fraiche, decomposed"
		server  = "The cache server was down; the server cache was not."
		chinese = "我们用Go写服务器,思考链很长。"
		kana    = "サーバーを再起動する"
		korean  = "생각의 사슬을 다시 시작"
		thai    = "เซิร์ฟเวอร์ล่มเมื่อคืนนี้"
		russian = "Ещё одна мысль о Сервере"
		german  = "Die Straße über den Fluß"
		code    = "call snake_case_name(x) in pkg/deploy.go:42 -- NOT later"
		mail    = "write to user@example.com AND (wait)"
	)
	s := h.open(t)
	put(t, s, begin(sequent.Key{ID: "a"}, cafe, decomp, server, chinese, kana, korean, thai, russian, german, code, mail))
	for _, test := range []struct {
		query string
		want  []string
	}{
		{"creme", []string{cafe, decomp}},
		{"CRÈME brûlée", []string{cafe}},
		{"flawless", []string{cafe}},
		{"brulee missing", []string{cafe}},
		{"server cache", []string{server}},
		{`"cache server"`, []string{server}},
		{`"server down"`, nil},
		{`"server was down"`, []string{server}},
		{"the -down", []string{cafe}},
		{`the -"creme brulee"`, []string{server}},
		{"flaw*", []string{cafe}},
		{"the -flaw*", []string{server}},
		{"fla", nil},
		{"思考", []string{chinese}},
		{"考链", []string{chinese}},
		{`"链考"`, nil},
		{"go写", []string{chinese}},
		{"服*", []string{chinese}},
		{"ーバー", []string{kana}},
		{"再起動", []string{kana}},
		{"사슬", []string{korean}},
		{"ร์ฟเ", []string{thai}},
		{"еще СЕРВЕРЕ", []string{russian}},
		{"strasse FLUSS", []string{german}},
		{"snake_case", []string{code}},
		{"case_name", []string{code}},
		{"deploy.go:42", []string{code}},
		{"pkg/dep*", []string{code}},
		{"not", []string{server, code}},
		{"write AND", []string{mail}},
		{"(wait)", []string{mail}},
		{"user@example.com", []string{mail}},
		{`"text:the"`, nil},
		{"--later", []string{code}},
		{"\"unclosed phrase", nil},
		{"\"was FLAWLESS", []string{cafe}},
	} {
		finds(t, s, test.query, test.want...)
	}
}

func searchRefuses(t *testing.T, h Harness) {
	s := h.open(t)
	for _, text := range []string{"", "  ", "-only", "?!", strings.Repeat("long ", 2000)} {
		_, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Text: text})
		if got := sequent.CodeOf(err); got != sequent.CodeInvalidQuery {
			t.Errorf("Search(%.20q): %v, want the code %s", text, err, sequent.CodeInvalidQuery)
		}
	}
	if got := find(t, s, "anything"); len(got) != 0 {
		t.Errorf("found %q in an empty store", got)
	}
}

func searchReturnsThoughts(t *testing.T, h Harness) {
	s := h.open(t)
	k := sequent.Key{ID: "whole"}
	w := begin(k, "first zebra", "second thing", "third zebra")
	w.Header.Title = "A title"
	w.Entries[1].Thought.Note = "a zebra in the note"
	side := &w.Entries[2].Thought
	side.Branch, side.From = "side", sequent.To(1)
	side.Labels = map[string]string{"mood": "calm"}
	prove(w)
	put(t, s, w)
	_, log := load(t, s, k)
	all := hits(t, s, sequent.SearchQuery{Text: "zebra"})
	if len(all) != 3 {
		t.Fatalf("found %+v, want three hits", all)
	}
	for _, hit := range all {
		if hit.Key != k || hit.Title != "A title" || hit.Score <= 0 {
			t.Errorf("hit in %q with title %q and score %g, want %q, %q and a positive score", hit.Key, hit.Title, hit.Score, k, "A title")
		}
		if want := log[hit.Thought.Seq-1]; !reflect.DeepEqual(hit.Thought, want) {
			t.Errorf("thought differs:\n got %+v\nwant %+v", hit.Thought, want)
		}
	}
}

func searchFindsAtOnce(t *testing.T, h Harness) {
	s := h.open(t)
	var wg sync.WaitGroup
	for writer := range 4 {
		wg.Go(func() {
			hd := begin(sequent.Key{ID: sequent.ID(fmt.Sprint("w", writer))}).Header
			hd.Version = 0
			for i := range 25 {
				word := fmt.Sprintf("word%dx%d", writer, i)
				w := add(hd, "common "+word)
				if err := s.Commit(t.Context(), []*sequent.Write{w}); err != nil || w.Err != nil {
					t.Errorf("Commit: %v, %v", err, w.Err)
					return
				}
				hd = w.Header
				got, err := sequent.SearchStore(t.Context(), s, sequent.SearchQuery{Text: word})
				if err != nil || len(got.Hits) != 1 {
					t.Errorf("Search(%q) after its commit: %+v, %v", word, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := find(t, s, "common"); len(got) != 100 {
		t.Errorf("found %d thoughts, want 100", len(got))
	}
}

func searchFindsOthers(t *testing.T, h Harness) {
	s := h.open(t)
	other := h.second(t, s)
	put(t, other, begin(sequent.Key{ID: "theirs"}, "elephant one"))
	finds(t, s, "elephant", "elephant one")
	put(t, s, begin(sequent.Key{ID: "ours"}, "elephant two"))
	finds(t, other, "elephant", "elephant one", "elephant two")
	if err := other.Delete(t.Context(), sequent.Key{ID: "ours"}, 0); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "elephant", "elephant one")
}

func searchInSession(t *testing.T, h Harness) {
	s := h.open(t)
	put(t, s, begin(sequent.Key{ID: "a"}, "lion in a"), begin(sequent.Key{ID: "b"}, "lion in b", "tiger in b"))
	for id, want := range map[sequent.ID][]string{"a": {"lion in a"}, "b": {"lion in b"}, "c": {}} {
		got := texts(hits(t, s, sequent.SearchQuery{Text: "lion", Session: id}))
		if !slices.Equal(got, want) {
			t.Errorf("in session %q found %q, want %q", id, got, want)
		}
	}
}

func searchOwners(t *testing.T, h Harness) {
	s := h.open(t)
	put(t, s,
		begin(sequent.Key{ID: "x"}, "panda local"),
		begin(sequent.Key{Owner: "ann", ID: "x"}, "panda ann"),
		begin(sequent.Key{Owner: "bob", ID: "x"}, "panda bob"))
	for _, test := range []struct {
		q    sequent.SearchQuery
		want []string
	}{
		{sequent.SearchQuery{}, []string{"panda local"}},
		{sequent.SearchQuery{Owner: "ann"}, []string{"panda ann"}},
		{sequent.SearchQuery{Owner: "bob", Session: "x"}, []string{"panda bob"}},
		{sequent.SearchQuery{Owner: "eve"}, []string{}},
		{sequent.SearchQuery{Owner: "eve", Session: "x"}, []string{}},
		{sequent.SearchQuery{AllOwners: true}, []string{"panda ann", "panda bob", "panda local"}},
		{sequent.SearchQuery{AllOwners: true, Session: "x"}, []string{"panda ann", "panda bob", "panda local"}},
	} {
		test.q.Text = "panda"
		if got := texts(hits(t, s, test.q)); !slices.Equal(got, test.want) {
			t.Errorf("Search(%+v)\n got %q\nwant %q", test.q, got, test.want)
		}
	}
}

func searchExpired(t *testing.T, h Harness) {
	s := h.open(t)
	w := begin(sequent.Key{ID: "old"}, "otter old")
	w.Header.Expires = start.Add(time.Hour)
	put(t, s, w, begin(sequent.Key{ID: "new"}, "otter new"))
	for _, test := range []struct {
		now  time.Time
		want []string
	}{
		{time.Time{}, []string{"otter new", "otter old"}},
		{start, []string{"otter new", "otter old"}},
		{start.Add(time.Hour), []string{"otter new"}},
	} {
		if got := texts(hits(t, s, sequent.SearchQuery{Text: "otter", Now: test.now})); !slices.Equal(got, test.want) {
			t.Errorf("at %s found %q, want %q", test.now, got, test.want)
		}
	}
	if _, err := sequent.SweepStore(t.Context(), s, expired(start.Add(2*time.Hour)), 10); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "otter", "otter new")
}

func searchDeleted(t *testing.T, h Harness) {
	s := h.open(t)
	k := sequent.Key{ID: "gone"}
	put(t, s, begin(k, "badger before"), begin(sequent.Key{ID: "stays"}, "badger stays"))
	finds(t, s, "badger", "badger before", "badger stays")
	if err := s.Delete(t.Context(), k, 0); err != nil {
		t.Fatal(err)
	}
	finds(t, s, "badger", "badger stays")
	w := begin(k, "badger after")
	w.Header.Epoch++
	put(t, s, w)
	finds(t, s, "badger", "badger after", "badger stays")
	finds(t, s, "before")
}
