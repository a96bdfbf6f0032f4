package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

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
	b.sync()
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
	if want := "[{idempotency 0 [idempotency-key]} {conection-pool 0 [pool]} {xyz 0 []}]"; unlinked != want {
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
		"idempotency": "idempotency-key", "limiting": "rate-limiting", "limited rates": "rate-limiting", "payment": "payments",
		"ga": "", "jwk": "", "author": "", "": "", "key": "idempotency-key", "unrelated": "",
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

// TestManyConcepts looks around a text of many concepts that no note has, in a vault of many:
// similar names are searched for a few of them.
func TestManyConcepts(t *testing.T) {
	t.Parallel()
	names := func(form string, n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf(form, i))
		}
		return list
	}
	b := newBox(t, index.Config{}, map[string]string{"many.md": "[[" + strings.Join(names("some concept %d", 9_000), "]] [[") + "]]"})
	b.sync()
	begun := time.Now()
	near, err := b.Near(t.Context(), index.NearQuery{Concepts: names("another concept %d", 5_000)})
	if took := time.Since(begun); err != nil || len(near.Unlinked) != 5_000 || took > 10*time.Second {
		t.Errorf("%d unlinked concepts after %v, %v", len(near.Unlinked), took, err)
	}
}
