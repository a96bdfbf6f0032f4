package dialecttest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// dump returns the content of a store as text.
func dump(t testing.TB, store sequent.Store) string {
	t.Helper()
	var b strings.Builder
	q := sequent.Query{AllOwners: true, ByCreated: true}
	for {
		page, err := store.List(t.Context(), q)
		if err != nil {
			t.Fatalf("listing the store: %v", err)
		}
		for _, h := range page.Headers {
			fmt.Fprintf(&b, "%+v\n", h)
			_, log, err := store.Load(t.Context(), h.Key, sequent.Position{})
			if err != nil {
				t.Fatalf("loading %v: %v", h.Key, err)
			}
			for _, th := range log {
				fmt.Fprintf(&b, "\t%+v\n", th)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return b.String()
		}
	}
}

// Log returns a session as text: a line for the header (state, scope, and other fields
// that are set) and a line for each thought,
//
//	SEQ: NUMBER/TOTAL [branch=B] [from=N] [revises=N] [revision] [extend] [last] [key=K] [<SEQ] [^SEQ] "TEXT"
//
// where <SEQ is the thought before it on its line, if that is not the one
// before it in the log, and ^SEQ the thought that it supersedes.
func Log(s *sequent.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", s.State())
	for _, p := range []struct{ name, value string }{
		{"scope", s.Header().Scope}, {"dialect", s.Header().Dialect}, {"title", s.Title()}, {"conclusion", s.Conclusion()},
	} {
		if p.value != "" {
			fmt.Fprintf(&b, " %s=%q", p.name, p.value)
		}
	}
	if !s.Header().Expires.IsZero() {
		fmt.Fprintf(&b, " expires=%s", s.Header().Expires.Format("2006-01-02T15:04:05Z"))
	}
	labels(&b, s.Header().Labels)
	b.WriteByte('\n')
	for t := range s.All() {
		fmt.Fprintf(&b, "%d: %d/%d", t.Seq, t.Number, t.Total)
		if t.Branch != "" {
			fmt.Fprintf(&b, " branch=%q", t.Branch)
		}
		if n, ok := t.From.Number(); ok {
			fmt.Fprintf(&b, " from=%d", n)
		}
		if n, ok := t.Revises.Number(); ok {
			fmt.Fprintf(&b, " revises=%d", n)
		}
		flag := func(set bool, name string) {
			if set {
				b.WriteString(" " + name)
			}
		}
		flag(t.Revision, "revision")
		flag(t.Extend, "extend")
		flag(t.Final, "last")
		if t.Request.Key != "" {
			fmt.Fprintf(&b, " key=%q", t.Request.Key)
		}
		if t.After != t.Seq-1 {
			fmt.Fprintf(&b, " <%d", t.After)
		}
		if t.Supersedes > 0 {
			fmt.Fprintf(&b, " ^%d", t.Supersedes)
		}
		fmt.Fprintf(&b, " %q", t.Text)
		if t.Note != "" {
			fmt.Fprintf(&b, " note=%q", t.Note)
		}
		labels(&b, t.Labels)
		b.WriteByte('\n')
	}
	return b.String()
}

func labels(b *strings.Builder, m map[string]string) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(b, " %s=%q", k, m[k])
	}
}
