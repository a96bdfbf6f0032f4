package sequent_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/sequent-dev/sequent"
)

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A forgetful store accepts everything and keeps nothing, so that what a test
// measures is the engine's.
type forgetful struct{ sequent.Store }

func (*forgetful) Commit(context.Context, []*sequent.Write) error { return nil }

// A model is the log of a session done plainly: every question is a walk over
// all thoughts.
type model []modelThought

type modelThought struct {
	sequent.Draft
	after, supersedes int
}

// path returns the Seqs that lead to the end of a line, among the first n
// thoughts; ok is false if the line has none.
func (m model) path(line string, n int) (path []int, ok bool) {
	first := 0
	for i := range n {
		if m[i].Branch == line {
			if first == 0 {
				first = i + 1
			}
			path = append(path, i+1)
		}
	}
	if first == 0 {
		return nil, false
	}
	if line == "" || m[first-1].after == 0 {
		return path, true
	}
	// What the parent's path held when the branch was opened, up to the origin,
	// and what revises that.
	origin := m[first-1].after
	var before []int
	for _, seq := range m.pathAt(m[origin-1].Branch, first-1) {
		root := seq
		for root > origin {
			root = m[root-1].supersedes
		}
		if root > 0 {
			before = append(before, seq)
		}
	}
	return append(before, path...), true
}

func (m model) pathAt(line string, n int) []int {
	path, _ := m.path(line, n)
	return path
}

// find returns the latest Seq on the line's path with that number.
func (m model) find(line string, number, n int) int {
	found := 0
	for _, seq := range m.pathAt(line, n) {
		if m[seq-1].Number == number {
			found = max(found, seq)
		}
	}
	return found
}

func (m model) findOrigin(number int) int {
	n := len(m)
	if n == 0 {
		return 0
	}
	for _, line := range []string{m[n-1].Branch, ""} {
		if seq := m.find(line, number, n); seq > 0 {
			return seq
		}
	}
	for seq := n; seq > 0; seq-- {
		if m[seq-1].Number == number {
			return seq
		}
	}
	return 0
}

func (m *model) append(d sequent.Draft) {
	n := len(*m)
	t := modelThought{Draft: d}
	path, ok := m.path(d.Branch, n)
	from, named := d.From.Number()
	switch {
	case ok:
		for _, seq := range path {
			if (*m)[seq-1].Branch == d.Branch {
				t.after = seq
			}
		}
	case d.Branch == "":
	case named:
		t.after = m.findOrigin(from)
	default:
		t.after = n
	}
	if number, named := d.Revises.Number(); named {
		switch {
		case ok:
			t.supersedes = m.find(d.Branch, number, n)
		case t.after > 0:
			t.supersedes = m.find((*m)[t.after-1].Branch, number, t.after)
		}
	}
	*m = append(*m, t)
}

// FuzzSession drives random changes, some refused half-way, through two engines
// on one store, and compares every answer with the plain model.
func FuzzSession(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 2, 0, 0, 1, 2, 1, 0, 2, 3, 0, 2, 0, 3, 1, 0, 3, 3, 2, 1})
	f.Add([]byte{4, 9, 9, 9, 0, 0, 0, 0, 0, 1, 8, 1, 0, 2, 1, 8, 5, 1, 2, 3, 0, 2, 2, 2, 2, 1, 1, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		store := sequent.NewMemoryStore()
		engines := []*sequent.Engine{
			sequent.New(sequent.Config{Store: store}),
			sequent.New(sequent.Config{Store: store, CacheBytes: -1}),
		}
		ctx := context.Background()
		var m model
		var snapshots []*sequent.Session
		labels := []string{"", "a", "b", "c"}
		for ; len(ops) >= 4 && len(m) < 60; ops = ops[4:] {
			op, number, ref := ops[0], int(ops[1]%8), int(ops[3]%8)
			d := sequent.Draft{Number: number, Text: "x", Branch: labels[ops[2]%4], Final: ops[2]&16 == 0}
			if op&1 != 0 {
				d.Revises, d.Revision = sequent.To(ref), true
			}
			if op&2 != 0 {
				d.From = sequent.To(ref)
			}
			if ops[2]&4 != 0 {
				d.Request.Key = fmt.Sprint(len(m))
			}
			e := engines[op>>2&1]
			if op&8 != 0 { // refused after it has appended
				_, err := e.Ensure(ctx, "s", func(c *sequent.Change) error {
					if _, err := c.Append(d); err != nil {
						return err
					}
					if _, err := c.Append(d); err != nil {
						return err
					}
					return context.Canceled
				})
				if err == nil {
					t.Fatal("a refused change was accepted")
				}
				continue
			}
			s, err := e.Ensure(ctx, "s", add(d))
			if err != nil {
				t.Fatalf("append %+v: %v", d, err)
			}
			m.append(d)
			snapshots = append(snapshots, s)
		}
		for i, s := range snapshots {
			compare(t, s, m[:i+1], labels)
		}
		if len(m) == 0 {
			return
		}
		for _, e := range engines {
			s, err := e.Session(ctx, "s")
			if err != nil {
				t.Fatal(err)
			}
			compare(t, s, m, labels)
		}
		fresh, err := sequent.New(sequent.Config{Store: store}).Session(ctx, "s")
		if err != nil {
			t.Fatal(err)
		}
		compare(t, fresh, m, labels)
		compare(t, fresh.Upto(len(m)/2), m[:len(m)/2], labels)
	})
}

func compare(t *testing.T, s *sequent.Session, m model, labels []string) {
	t.Helper()
	if s.Len() != len(m) || len(slices.Collect(s.All())) != len(m) {
		t.Fatalf("the session has %d thoughts, the model %d", s.Len(), len(m))
	}
	var branches []string
	for i, th := range slices.Collect(s.All()) {
		if th.Seq != i+1 || th.After != m[i].after || th.Supersedes != m[i].supersedes || th.Number != m[i].Number {
			t.Fatalf("thought %d is %+v, want after %d, supersedes %d", i+1, th, m[i].after, m[i].supersedes)
		}
		if key := th.Request.Key; key != "" {
			if got, ok := s.Recorded(key); !ok || got.Seq != th.Seq {
				t.Fatalf("Recorded(%q) = %d, %v, want %d", key, got.Seq, ok, th.Seq)
			}
		}
		if th.Branch != "" && !slices.Contains(branches, th.Branch) {
			branches = append(branches, th.Branch)
		}
	}
	if got := s.Branches(); !slices.Equal(got, branches) {
		t.Fatalf("Branches() = %q, want %q", got, branches)
	}
	if got := s.Header().Branches; got != len(branches) {
		t.Fatalf("Header().Branches = %d, want %d", got, len(branches))
	}
	for number := range 9 {
		got, _ := s.FindBranchPoint(number)
		if want := m.findOrigin(number); got.Seq != want {
			t.Fatalf("FindBranchPoint(%d) = %d, want %d", number, got.Seq, want)
		}
	}
	for _, line := range labels {
		want := m.pathAt(line, len(m))
		slices.Sort(want)
		var got []int
		highest := 0
		for _, th := range s.Path(line) {
			got = append(got, th.Seq)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("Path(%q) = %v, want %v", line, got, want)
		}
		if end, ok := s.End(line); ok {
			for seq := end.Seq; seq > 0; seq = m[seq-1].after {
				highest = max(highest, m[seq-1].Number)
			}
			if next := s.NextNumber(line); next != highest+1 {
				t.Fatalf("NextNumber(%q) = %d, want %d", line, next, highest+1)
			}
		}
		for number := range 9 {
			got, _ := s.Find(line, number)
			if want := m.find(line, number, len(m)); got.Seq != want {
				t.Fatalf("Find(%q, %d) = %d, want %d", line, number, got.Seq, want)
			}
		}
		steps := s.Effective(line)
		seen := 0
		for _, st := range steps {
			seen += 1 + len(st.Replaced)
		}
		if seen != len(want) {
			t.Fatalf("Effective(%q) accounts for %d thoughts of %d", line, seen, len(want))
		}
	}
	if got := len(s.Outline()); got != len(m) {
		t.Fatalf("Outline has %d entries, want %d", got, len(m))
	}
}
