package storetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// start is when the sessions of the suite begin; an odd number of microseconds.
var start = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)

// begin returns a write that begins a session with a thought for each text.
func begin(k sequent.Key, texts ...string) *sequent.Write {
	h := sequent.Header{
		Key: k, Epoch: start.UnixNano(), State: sequent.Active,
		Created: start, Updated: start,
	}
	return next(h, texts...)
}

// next returns the write that adds a thought for each text to a session that
// stands at h. It does not fit itself to another position.
func next(h sequent.Header, texts ...string) *sequent.Write {
	w := &sequent.Write{Header: h}
	refit(w, h, texts)
	w.Rebase = func(sequent.Header, bool, []sequent.Thought) bool {
		w.Err = sequent.ErrConflict
		return false
	}
	return w
}

// refit makes w the step from h to h with the texts.
func refit(w *sequent.Write, h sequent.Header, texts []string) {
	w.Base = h.Position()
	if w.Base.Version == 0 {
		w.Base = sequent.Position{}
	}
	w.Thoughts = nil
	for _, text := range texts {
		h.Len++
		w.Thoughts = append(w.Thoughts, sequent.Thought{
			Draft: sequent.Draft{Number: h.Len, Total: 5, Text: text, More: true},
			Seq:   h.Len, After: h.Len - 1, At: start.Add(time.Duration(h.Len) * time.Millisecond),
		})
	}
	h.Version++
	h.Updated = h.Updated.Add(time.Millisecond)
	w.Header = h
}

// add returns a write that adds the texts to the session wherever it stands,
// beginning it if there is none. Its first guess is that it stands at h.
func add(h sequent.Header, texts ...string) *sequent.Write {
	w := next(h, texts...)
	w.Rebase = func(now sequent.Header, exists bool, _ []sequent.Thought) bool {
		if !exists {
			now = begin(h.Key).Header
			now.Version = 0
		}
		refit(w, now, texts)
		return true
	}
	return w
}

// put commits one batch and fails the test on any error.
func put(t *testing.T, s sequent.Store, batch ...*sequent.Write) {
	t.Helper()
	if err := s.Commit(t.Context(), batch); err != nil {
		t.Fatalf("Commit of %d writes: %v", len(batch), err)
	}
	for i, w := range batch {
		if w.Err != nil {
			t.Fatalf("write %d of the batch, to %q: %v", i, w.Header.Key, w.Err)
		}
	}
}

// load returns the whole session and fails the test if there is none.
func load(t *testing.T, s sequent.Store, k sequent.Key) (sequent.Header, []sequent.Thought) {
	t.Helper()
	h, log, err := s.Load(t.Context(), k, sequent.Position{})
	if err != nil {
		t.Fatalf("Load(%q): %v", k, err)
	}
	return h, log
}

// has fails the test unless the session holds exactly the texts, gapless.
func has(t *testing.T, s sequent.Store, k sequent.Key, texts ...string) {
	t.Helper()
	h, log := load(t, s, k)
	if h.Len != len(texts) {
		t.Errorf("%q has Len %d, want %d", k, h.Len, len(texts))
	}
	sameTexts(t, log, 1, texts...)
}

// sameTexts fails the test unless log holds exactly the texts, beginning at
// position first.
func sameTexts(t *testing.T, log []sequent.Thought, first int, texts ...string) {
	t.Helper()
	var got []string
	for i, th := range log {
		got = append(got, th.Text)
		if th.Seq != first+i {
			t.Errorf("thought %q at place %d has Seq %d, want %d", th.Text, i, th.Seq, first+i)
		}
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", texts) {
		t.Errorf("the log holds %q, want %q", got, texts)
	}
}

func missing(t *testing.T, s sequent.Store, k sequent.Key) {
	t.Helper()
	h, log, err := s.Load(t.Context(), k, sequent.Position{})
	if !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("Load(%q) = %+v, %d thoughts, error %v; want an error matching ErrNotFound", k, h, len(log), err)
	}
}

// sameHeader compares everything; no labels and empty labels are the same.
func sameHeader(t *testing.T, got, want sequent.Header) {
	t.Helper()
	if len(got.Labels)+len(want.Labels) == 0 {
		got.Labels, want.Labels = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("header differs:\n got %+v\nwant %+v", got, want)
	}
}

func sameThought(t *testing.T, got, want sequent.Thought) {
	t.Helper()
	if !maps.Equal(got.Labels, want.Labels) {
		t.Errorf("labels of thought %d are %q, want %q", want.Seq, got.Labels, want.Labels)
	}
	got.Labels, want.Labels = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("thought differs:\n got %+v\nwant %+v", short(got), short(want))
	}
}

// short keeps failure messages about large texts readable.
func short(th sequent.Thought) sequent.Thought {
	if len(th.Text) > 200 {
		th.Text = fmt.Sprintf("%.200s… (%d bytes)", th.Text, len(th.Text))
	}
	return th
}

func key(id string) sequent.Key { return sequent.Key{ID: sequent.ID(id)} }

// names are ordinary names, however they look.
var names = []string{
	"a", "A", "__proto__", "constructor", "..", ".", "/", "a/b", `\`, "C:", "%", "_", "*", "?",
	"'", `"`, "''; DROP TABLE thoughts;--", " ", " a", "a ", "null", "0", "-1", "1e9", "true",
	"é", "e\u0301", "ß", "SS", "日本語", "العربية", "🧠", "👩‍🔬", "\U0010FFFD",
	"CON", "aux.txt", "~", "$HOME", "{{.}}", "<b>",
}
