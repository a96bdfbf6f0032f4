package record_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

func TestTimes(t *testing.T) {
	at := time.Date(2026, 4, 1, 12, 0, 0, 123456789, time.FixedZone("", 3600))
	micros := record.Micros(at)
	if got := record.Time(micros); !got.Equal(at.Truncate(time.Microsecond)) || got.Location() != time.UTC {
		t.Errorf("Time(Micros(%v)) = %v", at, got)
	}
	if got := record.Ceil(at); got != micros+1 {
		t.Errorf("Ceil(%v) = %d, want %d", at, got, micros+1)
	}
	if got := record.Ceil(record.Time(micros)); got != micros {
		t.Errorf("Ceil of the whole microsecond %d = %d", micros, got)
	}
	for _, micros := range []int64{-1 << 24, -1, 0, micros} {
		if p := record.Period(micros); p<<24 > micros || (p+1)<<24 <= micros {
			t.Errorf("Period(%d) = %d, which does not contain it", micros, p)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, labels := range []map[string]string{nil, {"a": ""}, {"": "é\x00\"", "b": "<&>"}} {
		got, err := record.ParseLabels(record.Labels(labels))
		if err != nil || !maps.Equal(got, labels) {
			t.Errorf("ParseLabels(Labels(%q)) = %q, %v", labels, got, err)
		}
	}
	if s := record.Labels(map[string]string{}); s != "" {
		t.Errorf("Labels of an empty map = %q, want \"\"", s)
	}
	for _, s := range []string{"{", "[]", `{"a":1}`} {
		if got, err := record.ParseLabels(s); err == nil {
			t.Errorf("ParseLabels(%q) = %q, want an error", s, got)
		}
	}
}

func TestOnlyMoved(t *testing.T) {
	start := record.Time(1000 << 24)
	old := sequent.Header{
		Version: 3, Len: 3, Created: start, Updated: start, State: sequent.Active,
		Title: "t", Labels: map[string]string{"a": "b"},
	}
	for name, tt := range map[string]struct {
		change func(*sequent.Header)
		want   bool
	}{
		"moved":        {func(h *sequent.Header) { h.Version, h.Len, h.Updated = 4, 5, h.Updated.Add(time.Second) }, true},
		"period":       {func(h *sequent.Header) { h.Updated = h.Updated.Add(time.Minute) }, false},
		"state":        {func(h *sequent.Header) { h.State = sequent.Completed }, false},
		"title":        {func(h *sequent.Header) { h.Title = "" }, false},
		"branches":     {func(h *sequent.Header) { h.Branches++ }, false},
		"conclusion":   {func(h *sequent.Header) { h.Conclusion = "c" }, false},
		"scope":        {func(h *sequent.Header) { h.Scope = "s" }, false},
		"dialect":      {func(h *sequent.Header) { h.Dialect = "d" }, false},
		"created":      {func(h *sequent.Header) { h.Created = h.Created.Add(time.Microsecond) }, false},
		"label":        {func(h *sequent.Header) { h.Labels = map[string]string{"a": "c"} }, false},
		"expires":      {func(h *sequent.Header) { h.Expires = start }, false},
		"expires at 0": {func(h *sequent.Header) { h.Expires = time.Unix(0, 0) }, false},
	} {
		now := old
		tt.change(&now)
		if got := record.OnlyMoved(&old, &now); got != tt.want {
			t.Errorf("%s: OnlyMoved = %v, want %v", name, got, tt.want)
		}
	}
}

func TestPlain(t *testing.T) {
	entries := sequent.Entries([]sequent.Thought{{Draft: sequent.Draft{Number: 2, Total: 3, Text: "x", More: true}, Seq: 2, After: 1, At: time.Unix(1, 0)}})
	new(sequent.Header).Prove(entries)
	plain := entries[0]
	if !record.Plain(&plain) {
		t.Error("a thought without optional fields is not plain")
	}
	for name, change := range map[string]func(*sequent.Thought){
		"note":       func(t *sequent.Thought) { t.Note = "n" },
		"branch":     func(t *sequent.Thought) { t.Branch = "b" },
		"from":       func(t *sequent.Thought) { t.From = sequent.To(1) },
		"revises":    func(t *sequent.Thought) { t.Revises = sequent.To(1) },
		"revision":   func(t *sequent.Thought) { t.Revision = true },
		"supersedes": func(t *sequent.Thought) { t.Supersedes = 1 },
		"extend":     func(t *sequent.Thought) { t.Extend = true },
		"request":    func(t *sequent.Thought) { t.Request.Key = "k" },
		"labels":     func(t *sequent.Thought) { t.Labels = map[string]string{"a": "b"} },
	} {
		var other sequent.Entry
		change(&other.Thought)
		if record.Plain(&other) {
			t.Errorf("a thought with %s is plain", name)
		}
	}
	plain.Mask()
	if record.Plain(&plain) {
		t.Error("a thought with masked texts is plain")
	}
}

func TestCheckSize(t *testing.T) {
	for text, ok := range map[string]bool{"1234": true, "12345": false} {
		w := sequent.Write{Entries: sequent.Entries([]sequent.Thought{{Seq: 1}, {Seq: 2, Draft: sequent.Draft{Text: text, Note: "56789"}}})}
		err := record.CheckSize(&w, 9)
		if (err == nil) != ok || !ok && (sequent.CodeOf(err) != sequent.CodeLimitExceeded || !strings.Contains(err.Error(), "10 bytes; the store accepts at most 9")) {
			t.Errorf("CheckSize for %s = %v", text, err)
		}
	}
}
