package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/index"
)

func TestNear(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{
		"own.md":       "[[checkout]] [[idempotency]] session-1-abc",
		"pool.md":      "[[checkout]] [[Connection Pool]]",
		"checkout.md":  "named after the concept",
		"both.md":      "[[checkout]] and [[idempotency-key]]",
		"quoted.md":    "made in session-1-abc",
		"other.md":     "made in session-1-abd [[nothing]]",
		"deployed.md":  "[[deploys]]",
		"far/words.md": "[[a key of many more words than it has]]",
	})
	near, err := b.Near(t.Context(), index.NearQuery{
		Concepts: []string{"Checkout", "connection_pool", "idempotency", "conection pool", "deployed", "xyz"}, Quoted: "session-1-abc", Except: "memory://own.md",
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range near.Found {
		got = append(got, fmt.Sprintf("%s %s %t", n.URI.Path(), strings.Join(n.Shared, ","), n.Quotes))
	}
	slices.Sort(got)
	want := []string{"both.md checkout false", "checkout.md checkout false", "deployed.md deployed false", "pool.md checkout,connection-pool false", "quoted.md  true"}
	if near.Notes != 7 || !slices.Equal(got, want) || near.Found[0].URI != "memory://pool.md" {
		t.Errorf("%d notes, %q, the first is %v; want %q", near.Notes, got, near.Found[0], want)
	}
	unlinked := fmt.Sprint(near.Unlinked)
	if want := "[{idempotency 0 [idempotency-key]} {conection-pool 0 [connection-pool pool]} {xyz 0 []}]"; unlinked != want {
		t.Errorf("unlinked are %s, want %s", unlinked, want)
	}
	if near, err = b.Near(t.Context(), index.NearQuery{}); err != nil || near.Notes != 8 || len(near.Found)+len(near.Unlinked) > 0 {
		t.Errorf("nothing is near %+v, %v", near, err)
	}
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{"a.md": "[[idempotency-key]] [[rate limiting]] [[JWT]] [[payments]] [[größe]] [[go]] [[auth]]"})
	for concept, want := range map[string]string{
		"idempotency": "idempotency-key", "limiting": "rate-limiting", "limited rates": "rate-limiting", "paymnets": "payments", "payment": "payments",
		"größen": "größe", "ga": "", "jwk": "", "author": "", "": "", "key": "idempotency-key", "unrelated": "",
	} {
		if concept == "" {
			continue
		}
		c := around(t, b, index.ContextQuery{Concept: concept, Depth: 1})
		if got := strings.Join(c.Similar, ","); got != want {
			t.Errorf("%s: similar are %q, want %q", concept, got, want)
		}
	}
}

// The preview of a note is shown once, whatever relations it is behind.
func TestPreviewsOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{"a.md": "[[hub]] [[x]] [[y]] [[z]]", "b.md": "[[hub]] [[z]]"})
	seen := make(map[vault.URI]int)
	for _, r := range around(t, b, index.ContextQuery{Concept: "hub", Depth: 1, IncludeContent: true}).Direct {
		if r.Preview != "" {
			seen[r.PreviewFrom]++
		}
	}
	// Which of the two comes first depends on their times; two relations are in a.md alone.
	if seen["memory://a.md"] != 1 || seen["memory://b.md"] > 1 {
		t.Errorf("previews: %v", seen)
	}
}

func TestInlineTags(t *testing.T) {
	t.Parallel()
	b := newBox(t, index.Config{}, map[string]string{
		"a.md": "---\ntags: [front]\n---\n# Heading\n\n#one and #Two/three, (#none) x#none #123 #4th\n- #list-tag.\n`#code` ``a #code ` b`` [[note#heading]] ##none\n\n```\n#fenced\n```\n\n    #indented-is-no-tag-of-a-code-block\n",
	})
	for tag, want := range map[string]int{
		"front": 1, "one": 1, "two": 1, "two/three": 1, "#ONE": 1, "4th": 1, "list-tag": 1,
		"none": 0, "123": 0, "code": 0, "fenced": 0, "heading": 0, "three": 0,
	} {
		if got := b.search(index.Query{Text: "heading", Tags: []string{tag}}).Total; got != want {
			t.Errorf("%s: %d notes, want %d", tag, got, want)
		}
	}
}

func TestUTF16(t *testing.T) {
	t.Parallel()
	encode := func(text string, mark string, big bool) string {
		out := []byte(mark)
		for _, r := range text {
			unit := []byte{byte(r), byte(r >> 8)}
			if big {
				slices.Reverse(unit)
			}
			out = append(out, unit...)
		}
		return string(out)
	}
	const text = "---\ntitle: Größe\n---\nThe [[pool]] is wide."
	b := newBox(t, index.Config{}, map[string]string{
		"little.md": encode(text, "\xFF\xFE", false), "big.md": encode(text, "\xFE\xFF", true),
		"unmarked.md": encode(text, "", false), "plain.md": "narrow [[pool]]",
	})
	report, err := b.Sync(t.Context(), nil)
	if err != nil || report.Notes != 3 || len(report.Unreadable) != 1 || !strings.Contains(report.Unreadable[0].Error(), "memory://unmarked.md is not text") {
		t.Errorf("%+v, %v", report, err)
	}
	found := b.search(index.Query{Text: "wide [[pool]]"})
	if found.Total != 3 || found.Hits[0].Title != "Größe" || !strings.Contains(found.Hits[0].Snippet, "The [[pool]] is wide.") {
		t.Errorf("%+v", found)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, query string
		matches     bool
	}{
		{"The pools are empty", "pool", true}, {"The [[report-job]]", "[[Report Job]]", true}, {"Nothing", "pool", false}, {"x", "-only", false},
	} {
		if piece, ok := index.Excerpt(test.text, test.query); ok != test.matches || ok && piece == "" {
			t.Errorf("%+v: %q, %t", test, piece, ok)
		}
	}
}
