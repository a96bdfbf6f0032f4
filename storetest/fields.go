package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

var fieldTests = []test{
	{"every field of a header", func(t *testing.T, h Harness) {
		s := h.Open(t)
		full := sequent.Header{
			Key: sequent.Key{Owner: "owner", ID: "full"}, Epoch: math.MaxInt64, Version: 1, Branches: 7, Revisions: 8, Notes: 9,
			State: sequent.Completed, Title: "title ☂", Scope: "scope", Dialect: "dialect",
			Origin:     sequent.Origin{Client: "client ☂", ClientVersion: "1", Agent: "a", Model: "m", Project: "p\u2028", GitBranch: "b", Commit: "c"},
			Conclusion: "it\nfollows",
			Labels:     map[string]string{"": "empty key", "empty": "", "a": "1", "\"": "'", "é": "ü\n", "<&>": "<&>\u2028"},
			Created:    start, Updated: start.Add(time.Hour), Expires: start.Add(48 * time.Hour),
			Entries: 3, Head: sequent.Hash{0: 1, 31: 2},
		}
		negative := full
		negative.ID, negative.Epoch, negative.Labels, negative.Expires = "negative", -1, nil, time.Time{}
		negative.Entries, negative.Head = 0, sequent.Hash{}
		plain := sequent.Header{Key: key("plain"), Epoch: 1, Version: 1, Created: start, Updated: start}
		var batch []*sequent.Write
		for _, want := range []sequent.Header{full, negative, plain} {
			batch = append(batch, &sequent.Write{Header: want})
		}
		put(t, s, batch...)
		s = h.reopen(t, s)
		for _, w := range batch {
			got, _ := load(t, s, w.Header.Key)
			sameHeader(t, got, w.Header)
		}
		page, err := s.List(t.Context(), sequent.Query{Owner: "owner"})
		if err != nil || len(page.Headers) != 2 {
			t.Fatalf("List = %d headers, error %v, want 2", len(page.Headers), err)
		}
		for _, got := range page.Headers {
			want := full
			if got.ID == negative.ID {
				want = negative
			}
			sameHeader(t, got, want)
		}

		// A write may change everything but key and epoch.
		changed := sequent.Header{
			Key: full.Key, Epoch: full.Epoch, Version: 2, Branches: 8,
			State: sequent.Cancelled, Title: "t", Scope: "s", Dialect: "d", Conclusion: "c", Origin: sequent.Origin{Project: "\"\\ '"},
			Labels:  map[string]string{"b": "2"},
			Created: start.Add(time.Minute), Updated: start, Expires: start.Add(time.Second),
		}
		put(t, s, &sequent.Write{Base: full.Position(), Header: changed})
		got, _ := load(t, s, full.Key)
		sameHeader(t, got, changed)
		cleared := sequent.Header{Key: full.Key, Epoch: full.Epoch, Version: 3, Created: start, Updated: start}
		put(t, s, &sequent.Write{Base: changed.Position(), Header: cleared})
		got, _ = load(t, s, full.Key)
		sameHeader(t, got, cleared)
	}},
	{"every field of a thought", func(t *testing.T, h Harness) {
		s := h.Open(t)
		thoughts := []sequent.Thought{
			{},
			{
				Draft: sequent.Draft{
					Number: 7, Total: 9, Text: "text", Note: "note", Branch: "branch",
					From: sequent.To(3), Revises: sequent.To(4), Revision: true, Final: true, Extend: true,
					Request: sequent.Request{Key: "key", Digest: "digest"},
					Labels:  map[string]string{"": "", "a": "1", "ключ": "знак"},
				},
				After: 1, Supersedes: 2, At: start,
			},
			{Draft: sequent.Draft{From: sequent.To(0)}},
			{Draft: sequent.Draft{Revises: sequent.To(0)}},
			{Draft: sequent.Draft{From: sequent.To(-5), Revises: sequent.To(math.MaxInt)}},
			{Draft: sequent.Draft{Number: -1, Total: math.MinInt}},
			{Draft: sequent.Draft{Number: math.MaxInt, Total: math.MaxInt}},
			{Draft: sequent.Draft{Revision: true}},
			{Draft: sequent.Draft{Final: true}},
			{Draft: sequent.Draft{Extend: true}},
			{Draft: sequent.Draft{Request: sequent.Request{Key: "only a key"}}},
			{At: start.Add(time.Microsecond)},
			{At: time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC)},
			{At: time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)},
		}
		for i := range thoughts {
			thoughts[i].Seq = i + 1
		}
		w := begin(key("a"))
		w.Entries = sequent.Entries(thoughts)
		w.Header.Len = len(thoughts)
		prove(w)
		put(t, s, w)
		s = h.reopen(t, s)
		_, log := load(t, s, key("a"))
		if len(log) != len(thoughts) {
			t.Fatalf("loaded %d thoughts, want %d", len(log), len(thoughts))
		}
		for i := range log {
			sameThought(t, log[i], thoughts[i])
		}
	}},
	{"texts of all kinds", func(t *testing.T, h Harness) {
		s := h.Open(t)
		texts := []string{
			"", " ", "\n", "\x00", "a\x00b", "\t\r\n", "\u202e right to left", "\ufeff", "\u2028\u2029",
			"e\u0301 and é", "👩‍🔬 🧠", "\U0010FFFF", "日本語のテキスト", "'; DROP TABLE thoughts; --", `{"a":"\u0000"}`,
			"[[Link]] #tag", "?1 :a @b $c", "%s %d %", strings.Repeat("é", 100_000), strings.Repeat("\n", 70_000),
			strings.Repeat("0123456789abcdef", 1<<16), // 1 MiB
		}
		put(t, s, begin(key("a"), texts...))
		s = h.reopen(t, s)
		_, log := load(t, s, key("a"))
		if len(log) != len(texts) {
			t.Fatalf("loaded %d thoughts, want %d", len(log), len(texts))
		}
		for i, th := range log {
			if th.Text != texts[i] {
				t.Errorf("text %d = %.50q (%d bytes), want %.50q (%d bytes)",
					i, th.Text, len(th.Text), texts[i], len(texts[i]))
			}
		}
	}},
	{"odd names", func(t *testing.T, h Harness) {
		s := h.Open(t)
		for i, name := range names {
			w := begin(sequent.Key{Owner: name, ID: sequent.ID(name)}, "first of "+name)
			w.Header.Scope, w.Header.Dialect = name, name
			w.Header.Labels = map[string]string{name: name}
			first := &w.Entries[0].Thought
			first.Branch, first.Request.Key = name, name
			first.Labels = map[string]string{name: name}
			prove(w)
			w.Header.Updated = start.Add(time.Duration(i) * time.Second)
			put(t, s, w)
		}
		s = h.reopen(t, s)
		for _, name := range names {
			k := sequent.Key{Owner: name, ID: sequent.ID(name)}
			got, log := load(t, s, k)
			if got.Key != k || got.Scope != name || got.Labels[name] != name {
				t.Errorf("session %q = %+v", name, got)
			}
			sameTexts(t, log, 1, "first of "+name)
			if log[0].Branch != name || log[0].Request.Key != name || log[0].Labels[name] != name {
				t.Errorf("thought of %q = %+v", name, log[0])
			}
			for _, q := range []sequent.Query{
				{Owner: name}, {Owner: name, Scope: name}, {AllOwners: true, Scope: name},
				{Owner: name, Scope: name, ByCreated: true},
			} {
				page, err := s.List(t.Context(), q)
				if err != nil || len(page.Headers) != 1 || page.Headers[0].Key != k {
					t.Errorf("List(%+v) = %+v, error %v; want only %q", q, page.Headers, err, k)
				}
			}
		}
	}},
	{"one id under many owners", func(t *testing.T, h Harness) {
		s := h.open(t)
		owners := []string{"", "a", "b", "A", "a ", "🧠"}
		for i, owner := range owners {
			w := begin(sequent.Key{Owner: owner, ID: "same"}, "of "+owner)
			w.Header.Epoch += int64(i)
			put(t, s, w)
		}
		for _, owner := range owners {
			has(t, s, sequent.Key{Owner: owner, ID: "same"}, "of "+owner)
		}
		if err := s.Delete(t.Context(), sequent.Key{Owner: "a", ID: "same"}, 0); err != nil {
			t.Fatal(err)
		}
		missing(t, s, sequent.Key{Owner: "a", ID: "same"})
		for _, owner := range owners {
			if owner != "a" {
				has(t, s, sequent.Key{Owner: owner, ID: "same"}, "of "+owner)
			}
		}
	}},
	{"a long session", func(t *testing.T, h Harness) {
		s := h.Open(t)
		var texts []string
		for i := range 5000 {
			texts = append(texts, fmt.Sprint("thought ", i+1))
		}
		put(t, s, begin(key("a"), texts...))
		s = h.reopen(t, s)
		has(t, s, key("a"), texts...)
		at, _ := load(t, s, key("a"))
		put(t, s, next(at, "one more"))
		_, tail, err := s.Load(t.Context(), key("a"), at.Position())
		if err != nil {
			t.Fatal(err)
		}
		sameTexts(t, sequent.Thoughts(tail), 5001, "one more")
	}},
}
