//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
)

// TestPartOf has values that never change: sessions stay in the part that has them.
func TestPartOf(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), server.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for owner, want := range map[string][3]int{ // of 4, 32 and 61 parts
		"":               {2, 2, 33},
		"alice":          {1, 9, 29},
		"bob":            {0, 24, 18},
		"oidc:248289761": {3, 23, 33},
		"Zoë":            {0, 24, 58},
	} {
		var inSQL [3]int
		for i, n := range []int{4, 32, 61} {
			if got := partOf(owner, n); got != want[i] {
				t.Errorf("partOf(%q, %d) = %d, want %d", owner, n, got, want[i])
			}
			if err := conn.QueryRow(t.Context(), // as the comment of partOf says
				"SELECT ('x' || left(encode(sha256(convert_to($1, 'UTF8')), 'hex'), 8))::bit(32)::bigint % $2", owner, n).Scan(&inSQL[i]); err != nil {
				t.Fatal(err)
			}
		}
		if inSQL != want {
			t.Errorf("in SQL the parts of %q are %v, want %v", owner, inSQL, want)
		}
	}
	if got := partOf("alice", 1); got != 0 {
		t.Errorf("partOf(alice, 1) = %d", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, of := range []int{1, 4, 64} {
		s := &Store{parts: partsOf("s", of)}
		last := s.parts[of-1]
		for _, key := range []int64{1, 1<<38 - 1, 1 << 48, 1<<48 + 1, 60<<48 + 1<<38 - 1} { // of workers of Citus
			n := last.combine(key)
			if p, got := s.keyOf(n); p != last || got != key || last.atLeast(n) != key || last.atMost(n) != key || n >= 1<<50 {
				t.Errorf("%d parts: key %d has the number %d, that of %d", of, key, n, got)
			}
		}
		if got := last.atMost(math.MaxInt64); got < 60<<48 {
			t.Errorf("%d parts: atMost of the greatest number is %d", of, got)
		}
	}
	for _, of := range []int{1, 3, 32} {
		s := &Store{parts: partsOf("s", of)}
		for n := int64(of); n < 4*int64(of); n++ {
			p, key := s.keyOf(n)
			if got := p.combine(key); got != n {
				t.Errorf("%d parts: key %d of part %d has the number %d, want %d", of, key, p.number, got, n)
			}
			for _, p := range s.parts {
				if k := p.atLeast(n); p.combine(k) < n || p.combine(k-1) >= n {
					t.Errorf("%d parts: atLeast(%d) = %d in part %d", of, n, k, p.number)
				}
				if k := p.atMost(n); p.combine(k) > n || p.combine(k+1) <= n {
					t.Errorf("%d parts: atMost(%d) = %d in part %d", of, n, k, p.number)
				}
			}
		}
	}
}

// A store is made with a number of parts, or without, and says which is right if the
// address has another.
func TestAddressOfParts(t *testing.T) {
	t.Parallel()
	divided, whole := server.Schema(t), server.Schema(t)
	partOf := func(number string) string { // address of the schema of a part
		return regexp.MustCompile("search_path=[^&]*").ReplaceAllString(divided, "${0}_p"+number)
	}
	openAt(t, withParts(divided, 4)).Close()
	openAt(t, whole).Close()
	refused := func(address string, hints ...string) {
		t.Helper()
		s, err := Open(t.Context(), Config{URL: address, Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			s.Close()
			t.Errorf("Open(%s) succeeded", address)
			return
		}
		e, ok := errors.AsType[*sequent.Error](err)
		if !ok || e.Code != sequent.CodeUnavailable {
			t.Errorf("Open(%s) = %v, code %s", address, err, sequent.CodeOf(err))
			return
		}
		for _, hint := range hints {
			if !strings.Contains(e.Msg+" "+e.Fix, hint) {
				t.Errorf("Open(%s) = %q, %q, want %q in it", address, e.Msg, e.Fix, hint)
			}
		}
		if _, _, err := Format(t.Context(), Config{URL: address}); err == nil {
			t.Errorf("Format(%s) succeeded", address)
		}
	}
	refused(divided, "has 4 parts", "parts=4")
	refused(withParts(divided, 8), "has 4 parts", "write parts=4")
	refused(withParts(whole, 4), "has no parts", "remove parts")
	refused(partOf("02"), "is part 2 of a store with 4 parts", "search_path=test", "parts=4")
	refused(withParts(partOf("02"), 4), "is part 2 of a store with 4 parts")
	for _, bad := range []string{"0", "1", "65", "-4", "x", ""} {
		refused(whole+"&parts="+bad, "from 2 to 64")
	}
	for _, address := range []string{withParts(divided, 4), whole} {
		s := openAt(t, address)
		if err := s.Check(t.Context()); err != nil {
			t.Error(err)
		}
		s.Close()
		if have, want, err := Format(t.Context(), Config{URL: address}); err != nil || have != want {
			t.Errorf("Format(%s) = %d, %d, %v", address, have, want, err)
		}
	}
	// Programs for format 8 look only at these columns, of the schema of the address. They
	// refuse a store with parts, and go on with one without.
	for address, want := range map[string]int{divided: partsFormat, partOf("00"): partsFormat, whole: 8} {
		conn, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		var version, oldest int
		if err := conn.QueryRow(t.Context(), "SELECT version, oldest_writer FROM sequent_schema").Scan(&version, &oldest); err != nil ||
			version < latest || oldest != want {
			t.Errorf("%s has format %d for writers from %d on, %v; want %d for %d", address, version, oldest, err, latest, want)
		}
		conn.Close(t.Context())
	}
}

// thinkAll appends thoughts to a session of each owner, concurrently, with several stores.
func thinkAll(t *testing.T, stores []*Store, owners []string, thoughts int) {
	t.Helper()
	var wg sync.WaitGroup
	for _, s := range stores {
		e := sequent.New(sequent.Config{Store: s})
		for _, owner := range owners {
			wg.Go(func() {
				mine := e.Owned(owner)
				for n := range thoughts {
					if _, err := mine.Ensure(t.Context(), "a", adding(fmt.Sprintf("heron %s %d", owner, n))); err != nil {
						t.Errorf("%s: %v", owner, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func owners(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("owner ", i))
	}
	return all
}

// TestParts has two processes write the same sessions of many owners, and checks what
// owners and the operator see, and in which parts it is.
func TestParts(t *testing.T) {
	t.Parallel()
	const parts, each = 32, 5
	address := withParts(server.Schema(t), parts)
	stores := []*Store{openAt(t, address), openAt(t, address)}
	defer stores[0].Close()
	defer stores[1].Close()
	all := append(owners(79), "")
	thinkAll(t, stores, all, each)
	s := stores[0]
	engine := sequent.New(sequent.Config{Store: s})
	for _, owner := range all {
		v, err := engine.Owned(owner).Verify(t.Context(), "a")
		if err != nil || v.Fault != nil {
			t.Errorf("%s: Verify = %v, %v", owner, v.Fault, err)
		}
		page, err := engine.Owned(owner).Sessions(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 1 || page.Headers[0].Len != 2*each {
			t.Errorf("%s sees %d sessions, %v; want one with %d thoughts", owner, len(page.Headers), err, 2*each)
		}
	}

	for _, limit := range []int{1, 7, 100} {
		var listed []sequent.Header
		for q := (sequent.Query{AllOwners: true, Limit: limit}); ; {
			page, err := s.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, page.Headers...)
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		seen := make(map[string]bool)
		for i, h := range listed {
			seen[h.Owner] = true
			if i > 0 && h.Updated.After(listed[i-1].Updated) {
				t.Errorf("pages of %d: session %d is newer than the one before", limit, i)
			}
		}
		if len(listed) != len(all) || len(seen) != len(all) {
			t.Errorf("pages of %d: %d sessions of %d owners, want %d", limit, len(listed), len(seen), len(all))
		}
	}
	for _, indexed := range []bool{false, true} {
		if indexed {
			catchUp(t, s)
		}
		found := make(map[string]int)
		for q := (sequent.SearchQuery{Text: "heron", AllOwners: true, Limit: 90}); ; {
			hits, err := s.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits.Hits {
				found[fmt.Sprint(h.Key, h.Thought.Seq)]++
			}
			if q.Cursor = hits.Next; q.Cursor == "" {
				break
			}
		}
		if len(found) != 2*each*len(all) {
			t.Errorf("indexed %t: search finds %d thoughts, want %d", indexed, len(found), 2*each*len(all))
		}
		for hit, n := range found {
			if n != 1 {
				t.Errorf("indexed %t: search finds %s %d times", indexed, hit, n)
			}
		}
	}
	usage, err := s.Usage(t.Context(), sequent.UsageQuery{AllOwners: true})
	if err != nil || len(usage) != len(all) || !slices.IsSortedFunc(usage, func(a, b sequent.Usage) int { return strings.Compare(a.Owner, b.Owner) }) {
		t.Errorf("Usage has %d owners, %v; want %d, sorted", len(usage), err, len(all))
	}
	for _, p := range s.parts {
		var rows int
		var misplaced bool
		if err := s.pool.QueryRow(t.Context(), p.sql(`SELECT count(*), coalesce(bool_or(
			('x' || left(encode(sha256(convert_to(owner, 'UTF8')), 'hex'), 8))::bit(32)::bigint % $1 <> $2), FALSE) FROM schema.tool_sessions`),
			parts, p.number).Scan(&rows, &misplaced); err != nil || misplaced {
			t.Errorf("%s has %d sessions, some of other parts: %t, %v", p.name, rows, misplaced, err)
		}
	}
	var detail strings.Builder
	for _, f := range Diagnose(t.Context(), address) {
		if f.Status != diagnosis.OK {
			t.Errorf("doctor: %+v", f)
		}
		detail.WriteString(f.Detail + "\n")
	}
	for _, want := range []string{"32, in the schemas test", "one of 80 owners"} {
		if !strings.Contains(detail.String(), want) {
			t.Errorf("doctor does not say %q:\n%s", want, detail.String())
		}
	}
	if n, err := s.Sweep(t.Context(), sequent.SweepQuery{AllOwners: true}, 50); err != nil || n != 50 {
		t.Errorf("Sweep = %d, %v, want 50", n, err)
	}
	if n, err := s.Sweep(t.Context(), sequent.SweepQuery{AllOwners: true}, 50); err != nil || n != len(all)-50 {
		t.Errorf("the second Sweep = %d, %v, want %d", n, err, len(all)-50)
	}
}

// A panic in one of several calls reaches the caller after the others have ended.
func TestConcurrently(t *testing.T) {
	items := []int{0, 1, 2, 3, 4, 5, 6, 7}
	if err := concurrently(items, 3, func(int) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := concurrently(items, 3, func(i int) error {
		if i == 5 {
			return io.EOF
		}
		return nil
	}); !errors.Is(err, io.EOF) {
		t.Errorf("concurrently = %v, want %v", err, io.EOF)
	}
	defer func() {
		if p := recover(); p != "five" {
			t.Errorf("recover() = %v", p)
		}
	}()
	_ = concurrently(items, 3, func(i int) error {
		if i == 5 {
			panic("five")
		}
		return nil
	})
}
