package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/web"
)

func articleAt(t *testing.T, url, query string) (a web.Article) {
	t.Helper()
	status, body, _ := ask(t, "GET", url+"/api/v1/article?id=s"+query, "")
	if err := json.Unmarshal([]byte(body), &a); err != nil || status != 200 {
		t.Fatalf("%d %s %v", status, body, err)
	}
	return a
}

// An article has all texts of up to 1,000 thoughts. After that it has those around a place, later ones after a
// position, and others by range; together they are every text once.
func TestArticle(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	url := serve(t, web.Config{Engine: e})
	var texts []string
	for i := range 1000 {
		texts = append(texts, fmt.Sprintf("Thought <b>%d</b> of a long session.", i+1))
	}
	think(t, e, "s", texts...)
	whole := articleAt(t, url, "")
	if n := strings.Count(whole.HTML, "of a long session."); n != 1000+1 || strings.Contains(whole.HTML, "<b>1") { // and what is not concluded
		t.Errorf("the article of 1,000 thoughts has %d texts", n)
	}
	think(t, e, "s", "One more, of a long session.", "And another, of a long session.")
	later := articleAt(t, url, "&at=1001&after="+whole.Position)
	if n := strings.Count(later.HTML, " later\""); n != 998 || !strings.Contains(later.HTML, "And another") || later.Thoughts != 1002 {
		t.Errorf("after a position there are %d places, %d thoughts", n, later.Thoughts)
	}
	for at, want := range map[int]int{0: 100, 500: 150, 1002: 50} {
		a := articleAt(t, url, fmt.Sprintf("&at=%d", at))
		if n := strings.Count(a.HTML, `<li class="thought"`); n != want || strings.Count(a.HTML, `<li class="thought`) != 1000 {
			t.Errorf("at %d there are %d texts", at, n)
		}
	}
	if n := strings.Count(articleAt(t, url, "&from=301&to=900").HTML, `<li class="thought"`); n != 200 {
		t.Errorf("a range has %d texts, want 200", n)
	}
	if n := strings.Count(articleAt(t, url, "&short").HTML, `<li class="thought"`); n != 3 {
		t.Errorf("a short article has %d texts", n)
	}
	for _, query := range []string{"&from=x", "&to=-1", "&at=1.5", "&after=x", "&line=", "&line=&line=elsewhere"} {
		if status, body, _ := ask(t, "GET", url+"/api/v1/article?id=s"+query, ""); status != 400 || !strings.Contains(body, "invalid_parameter") {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	// One MiB of text is in an article, and the others can be asked for.
	for i := range 30 {
		think(t, e, "large", fmt.Sprintf("large %d. ", i)+strings.Repeat("word ", 13_000))
	}
	status, body, _ := ask(t, "GET", url+"/api/v1/article?id=large", "")
	if n := strings.Count(body, ` later\"`); status != 200 || n < 10 || n > 20 || len(body) > 2<<20 {
		t.Errorf("%d: an article of %d bytes, without %d texts", status, len(body), n)
	}
}
