package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// start is the time at which the sessions of the suite begin.
var start = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)

// begin returns a write that begins a session with a thought for each text.
func begin(k sequent.Key, texts ...string) *sequent.Write {
	h := sequent.Header{
		Key: k, Epoch: start.UnixNano(), State: sequent.Active,
		Created: start, Updated: start,
	}
	return next(h, texts...)
}

// next returns a write that appends a thought for each text to the session at h.
// At another position it fails with ErrConflict.
func next(h sequent.Header, texts ...string) *sequent.Write {
	w := &sequent.Write{Header: h}
	refit(w, h, texts)
	w.Rebase = func(sequent.Header, []sequent.Entry) bool {
		w.Err = sequent.ErrConflict
		return false
	}
	return w
}

// refit changes w to a write that appends the texts to the session at h.
func refit(w *sequent.Write, h sequent.Header, texts []string) {
	w.Base = h.Position()
	if w.Base.Version == 0 {
		w.Base = sequent.Position{}
	}
	w.Entries = nil
	for _, text := range texts {
		h.Len++
		w.Entries = append(w.Entries, sequent.EntryOf(sequent.Thought{
			Draft: sequent.Draft{Number: h.Len, Total: 5, Text: text},
			Seq:   h.Len, After: h.Len - 1, At: start.Add(time.Duration(h.Len) * time.Millisecond),
		}))
	}
	h.Version++
	h.Updated = h.Updated.Add(time.Millisecond)
	w.Header = h
	prove(w)
}

// prove gives the entries of w proofs that follow its base.
func prove(w *sequent.Write) {
	w.Header.Entries, w.Header.Head = w.Base.Entries, w.Base.Head
	w.Header.Prove(w.Entries)
}

// add returns a write that appends the texts to the session at any position, and
// begins it if it does not exist. Its first attempt is at h.
func add(h sequent.Header, texts ...string) *sequent.Write {
	w := next(h, texts...)
	w.Rebase = func(now sequent.Header, _ []sequent.Entry) bool {
		if now.Version == 0 {
			now = begin(h.Key).Header
			now.Version = 0
		}
		refit(w, now, texts)
		return true
	}
	return w
}

// put commits a batch and ends the test after an error.
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

// commit commits a write as an engine does: it waits alone if another process has locked the session.
func commit(t *testing.T, s sequent.Store, w *sequent.Write) error {
	err := s.Commit(t.Context(), []*sequent.Write{w})
	if w.Err == sequent.ErrLocked {
		w.Wait, w.Err = true, nil
		err = s.Commit(t.Context(), []*sequent.Write{w})
	}
	return cmp.Or(err, w.Err)
}

// load returns the header and the thoughts of a session, and ends the test if it does not exist.
func load(t *testing.T, s sequent.Store, k sequent.Key) (sequent.Header, []sequent.Thought) {
	t.Helper()
	h, entries, err := s.Load(t.Context(), k, sequent.Position{})
	if err != nil {
		t.Fatalf("Load(%q): %v", k, err)
	}
	return h, sequent.Thoughts(entries)
}

// has fails the test unless the session has exactly these texts, without gaps.
func has(t *testing.T, s sequent.Store, k sequent.Key, texts ...string) {
	t.Helper()
	h, log := load(t, s, k)
	if h.Len != len(texts) {
		t.Errorf("%q has Len %d, want %d", k, h.Len, len(texts))
	}
	sameTexts(t, log, 1, texts...)
}

// sameTexts fails the test unless log has exactly these texts, with sequence
// numbers that begin at first.
func sameTexts(t *testing.T, log []sequent.Thought, first int, texts ...string) {
	t.Helper()
	var got []string
	for i, th := range log {
		got = append(got, th.Text)
		if th.Seq != first+i {
			t.Errorf("thought %q at index %d has Seq %d, want %d", th.Text, i, th.Seq, first+i)
		}
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", texts) {
		t.Errorf("the log has %q, want %q", got, texts)
	}
}

// missing fails the test unless the session does not exist.
func missing(t *testing.T, s sequent.Store, k sequent.Key) {
	t.Helper()
	h, log, err := s.Load(t.Context(), k, sequent.Position{})
	if !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("Load(%q) = %+v, %d thoughts, error %v; want an error matching ErrNotFound", k, h, len(log), err)
	}
}

// sameHeader compares all fields. Nil and empty labels are the same.
func sameHeader(t *testing.T, got, want sequent.Header) {
	t.Helper()
	if len(got.Labels)+len(want.Labels) == 0 {
		got.Labels, want.Labels = nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("header differs:\n got %+v\nwant %+v", got, want)
	}
}

// sameThought compares all fields. Nil and empty labels are the same.
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

// short shortens a large text for a failure message.
func short(th sequent.Thought) sequent.Thought {
	if len(th.Text) > 200 {
		th.Text = fmt.Sprintf("%.200s… (%d bytes)", th.Text, len(th.Text))
	}
	return th
}

func key(id string) sequent.Key { return sequent.Key{ID: sequent.ID(id)} }

// names are valid ids, owners, scopes and so on that a store may mishandle.
var names = []string{
	"a", "A", "__proto__", "constructor", "..", ".", "/", "a/b", `\`, "C:", "%", "_", "*", "?",
	"'", `"`, "''; DROP TABLE thoughts;--", " ", " a", "a ", "null", "0", "-1", "1e9", "true",
	"é", "e\u0301", "ß", "SS", "日本語", "العربية", "🧠", "👩‍🔬", "\U0010FFFD",
	"CON", "aux.txt", "~", "$HOME", "{{.}}", "<b>",
}
