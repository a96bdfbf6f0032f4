package textsearch_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/sequent-dev/sequent/textsearch"
)

// TestFTS5 asks SQLite: an index without positions has all documents that match.
func TestFTS5(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE VIRTUAL TABLE f USING fts5(tokens, content='', detail=none, columnsize=0, tokenize='ascii')"); err != nil {
		t.Fatal(err)
	}
	docs := []string{
		"Crème brûlée", "creme", "pools are empty", "a pool of queries", "cached queries", "caching", "not a note", "दिल हिन्दी",
		"思考链条很长", "链考思", "か\u3099 生각", "v1.2 is out", "AND or NOT near", `say "yes"`, "it's 7", "ที่นี่", "ΣΊΣΥΦΟΣ ёлка", "",
	}
	for id, text := range docs {
		if _, err := db.Exec("INSERT INTO f(rowid, tokens) VALUES (?, ?)", id, string(textsearch.AppendTokens(nil, text))); err != nil {
			t.Fatal(err)
		}
	}
	find := func(expression string) (ids []int64) {
		rows, err := db.Query("SELECT rowid FROM f WHERE f MATCH ?", expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if err := rows.Err(); err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		return ids
	}
	for _, text := range []string{
		"creme", "pool -query", `pool -"query"`, "queries caches", "note", `"a note"`, `"not a" pool`, "思考链", "が 生", "v1.2", "que* -cach*",
		"AND OR NOT", `near "yes`, "it's", "नहीं हिन्दी", "ที่นี่", "σίσυφος ЁЛКА -x", `"pools are" -"pools empty"`,
	} {
		q := parse(t, text)
		r := q.Rank()
		for id, doc := range slices.Backward(docs) {
			r.Add(0, int64(id), doc)
		}
		some, all := find(q.FTS5(false)), find(q.FTS5(true))
		best, _ := r.Best(0, 99)
		for _, m := range best {
			if !slices.Contains(some, m.ID) || m.All && !slices.Contains(all, m.ID) {
				t.Errorf("%s: the index lacks %q: %v of %s, %v of %s", text, docs[m.ID], some, q.FTS5(false), all, q.FTS5(true))
			}
		}
		if r.Len() == 0 {
			t.Errorf("%s: no match", text)
		}
	}
}

func TestIndexQueries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, all, some, tsquery string }{
		{"pools", `"pool"`, `("pool")`, `'pool'`},
		{"pools empty", `("pool" AND "empti")`, `("pool" OR "empti")`, `('pool' & 'empti')`},
		{"depl* -crow", `"depl" * NOT "crow"`, `("depl" *) NOT "crow"`, `'depl':* & !'crow'`},
		{`"a bird" crow -"x" -owls*`, `(("a" AND "bird") AND "crow") NOT "owls" *`, `("a" AND "bird") NOT "owls" *`, `(('a' & 'bird') & 'crow') & !'owls':*`},
		{"思考链", `(("思" AND "考") AND ("考" AND "链"))`, `(("思" AND "考") OR ("考" AND "链"))`, `(('思' & '考') & ('考' & '链'))`},
	} {
		q := parse(t, test.query)
		ts, ok := q.TSQuery(true)
		if q.FTS5(true) != test.all || q.FTS5(false) != test.some || ts != test.tsquery || !ok {
			t.Errorf("%s: %s, %s, %s, %t", test.query, q.FTS5(true), q.FTS5(false), ts, ok)
		}
	}
	if s, ok := (textsearch.Query{}).TSQuery(false); ok {
		t.Errorf("the zero Query asks for %q", s)
	}
	if got, ok := textsearch.TSVector("Two pools", "of a pool"); got != "'two' 'pools' 'pool' 'of' 'a' " || !ok {
		t.Errorf("TSVector = %q, %t", got, ok)
	}
	var many strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&many, "%d ", i)
	}
	if got, ok := textsearch.TSVector(many.String()); ok {
		t.Errorf("a vector of %d bytes", len(got))
	}
}
