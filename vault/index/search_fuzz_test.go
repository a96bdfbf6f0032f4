package index_test

import (
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault/index"
)

// Every query gets an answer or is refused as invalid; no input reaches FTS5 as syntax.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{
		"", "tokens", `"refresh of tokens" -cache auth*`, "[[JWT]] [[", "令牌刷新 とトークン", "-", `"`, "*", "a*", "[[a|b]]", "\xff\x00", "the of and", "👍",
		`") OR (`, "head:x", "{body} : a", "NEAR(a b, 5)", "a AND NOT b", "^a + b", "a* \" OR *", "x\x00y", "¶",
	} {
		f.Add(s, 1, 10, "", "", 0.0)
	}
	b := newBox(f, index.Config{}, library)
	f.Fuzz(func(t *testing.T, text string, page, size int, folder, tag string, floor float64) {
		for _, mode := range []index.Mode{index.Hybrid, index.FullText} {
			q := index.Query{Text: text, Mode: mode, Page: page, PageSize: size, Folder: folder, Tags: []string{tag}, MinScore: floor}
			r, err := b.Search(t.Context(), q, nil)
			if err != nil {
				if code := sequent.CodeOf(err); code != sequent.CodeInvalidQuery {
					t.Fatalf("%+v: %v", q, err)
				}
				continue
			}
			if len(r.Hits) > r.PageSize || r.Total > len(library) || len(r.Hits) > r.Total {
				t.Fatalf("%+v: %+v", q, r)
			}
			for i, h := range r.Hits {
				if h.Score < floor || h.Score > 1 || i > 0 && h.Score > r.Hits[i-1].Score {
					t.Fatalf("%+v: hit %d %+v", q, i, h)
				}
			}
		}
		if _, err := b.Context(t.Context(), index.ContextQuery{Concept: text, Depth: page, MaxEntities: size, IncludeContent: true}); err != nil &&
			sequent.CodeOf(err) != sequent.CodeInvalidQuery {
			t.Fatal(err)
		}
	})
}
