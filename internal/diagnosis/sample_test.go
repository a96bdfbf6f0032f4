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

// A faultyStore does not find the thoughts of one session, and has another text of a thought of another one.
type faultyStore struct {
	sequent.Store
	hidden, forged sequent.ID
}

func (s faultyStore) Search(ctx context.Context, q sequent.SearchQuery) (sequent.Hits, error) {
	hits, err := sequent.SearchStore(ctx, s.Store, q)
	hits.Hits = slices.DeleteFunc(hits.Hits, func(h sequent.Hit) bool { return h.Key.ID == s.hidden })
	return hits, err
}

func (s faultyStore) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	h, entries, err := s.Store.Load(ctx, k, have)
	if k.ID == s.forged && len(entries) > 1 {
		entries = slices.Clone(entries)
		entries[1].Thought.Text += "!"
	}
	return h, entries, err
}

func TestSample(t *testing.T) {
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store})
	check := func(name string, s sequent.Store, want ...string) {
		t.Helper()
		var r diagnosis.Report
		if err := r.Sample(t.Context(), s, "repair it"); err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(r.Findings, want, func(got diagnosis.Finding, want string) bool {
			return strings.HasPrefix(fmt.Sprint(got.Status, " ", got.Check, ": ", got.Detail), want) && (got.Fix != "") == (got.Status != diagnosis.OK)
		}) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, r.Findings, want)
		}
	}
	check("an empty store", store)
	for i := range 30 {
		for j := range 4 {
			if _, err := e.Append(t.Context(), sequent.ID(fmt.Sprint("s", i)), sequent.Draft{Text: fmt.Sprintf("session%d thought%d is -this one- \"or\" …", i, j)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := e.Append(t.Context(), "wordless", sequent.Draft{Text: "…"}); err != nil {
		t.Fatal(err)
	}
	const intact, found = "ok history: 20 of 20 sampled sessions are as they were recorded", "ok search: found all of 57 sampled thoughts"
	check("an intact store", store, intact, found)
	if _, err := e.Update(t.Context(), "s29", func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 4, From: sequent.FromStore, Text: "thoughts are gone: 5"})
	}); err != nil {
		t.Fatal(err)
	}
	check("a faulty store", faultyStore{store, "s29", "s28"},
		"warn lost thoughts: 1 notes in the latest sessions, such as session s29 (",
		"fail history: 1 of 20 sampled sessions are not what was recorded, such as session s28: thought 2 was altered",
		"fail search: 3 of 57 sampled thoughts are not found by their words, such as thought 4 of session s29")
}
