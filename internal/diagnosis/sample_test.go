package diagnosis_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// A blindStore does not find the thoughts of a session.
type blindStore struct {
	*sequent.MemoryStore
	hidden sequent.ID
}

func (s blindStore) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	hits, err := sequent.SearchStore(ctx, s.MemoryStore, q)
	hits.Hits = slices.DeleteFunc(hits.Hits, func(h sequent.Hit) bool { return h.Key.ID == s.hidden })
	return hits, err
}

// A forgedStore has another text of a thought than was recorded.
type forgedStore struct{ sequent.Store }

func (s forgedStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	h, entries, err := s.Store.Load(ctx, k, have)
	if k.ID == "s28" && len(entries) > 1 {
		entries = slices.Clone(entries)
		entries[1].Thought.Text += "!"
	}
	return h, entries, err
}

func TestSample(t *testing.T) {
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	check := func(name string, s sequent.Store, want ...diagnosis.Finding) {
		t.Helper()
		var r diagnosis.Report
		if err := r.Sample(t.Context(), s, "repair it"); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(r.Findings, want, func(got, want diagnosis.Finding) bool {
			return got.Check == want.Check && got.Status == want.Status && strings.HasPrefix(got.Detail, want.Detail) &&
				(got.Fix != "") == (want.Status != diagnosis.OK)
		}) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, r.Findings, want)
		}
	}
	check("an empty store", store)
	for i := range 30 {
		for j := range 4 {
			_, err := e.Ensure(t.Context(), sequent.ID(fmt.Sprint("s", i)), func(c *sequent.Change) error {
				_, err := c.Append(sequent.Draft{Text: fmt.Sprintf("session%d thought%d is -this one- \"or\" …", i, j)})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := e.Ensure(t.Context(), "wordless", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "…"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	history := diagnosis.Finding{Check: "history", Status: diagnosis.OK, Detail: "20 of 20 sampled sessions are as they were recorded"}
	search := diagnosis.Finding{Check: "search", Status: diagnosis.OK, Detail: "found all of 57 sampled thoughts"}
	check("an intact store", store, history, search)
	if _, err := e.Update(t.Context(), "s0", func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 4, From: sequent.FromStore, Text: "thoughts are gone: 5"})
	}); err != nil {
		t.Fatal(err)
	}
	lost := diagnosis.Finding{Check: "lost thoughts", Status: diagnosis.Warn, Detail: "1 notes in the latest sessions, such as session s0 ("}
	check("a store that was put back", store, lost, history, diagnosis.Finding{Check: "search", Status: diagnosis.OK, Detail: "found all of 5"})
	if err := e.Delete(t.Context(), "s0"); err != nil {
		t.Fatal(err)
	}
	check("a store that does not find the latest session", blindStore{store, "s29"}, history,
		diagnosis.Finding{Check: "search", Status: diagnosis.Fail, Detail: "3 of 57 sampled thoughts are not found by their words, such as thought 4 of session s29"})
	check("a store with another text", forgedStore{store},
		diagnosis.Finding{
			Check: "history", Status: diagnosis.Fail,
			Detail: "1 of 20 sampled sessions are not what was recorded, such as session s28: thought 2 was altered",
		}, search)
}
