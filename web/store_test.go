package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/web"
)

// A reply of the store has a bounded part of what is asked for, also of texts of which JSON
// escapes each character.
func TestStoreReplies(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	const thoughts = 30
	for range thoughts {
		think(t, e, "long", "word "+strings.Repeat("\x01<", 30_000))
	}
	url := serve(t, web.Config{Engine: e})
	get := func(method, query string, into any) {
		t.Helper()
		status, body, _ := ask(t, "POST", url+"/api/v1/store/"+method, query, "Content-Type", "application/json")
		if err := json.Unmarshal([]byte(body), into); status != http.StatusOK || err != nil || len(body) > 8<<20 {
			t.Fatalf("%s: %d, %v, %d bytes: %.200s", method, status, err, len(body), body)
		}
	}
	var part web.Loaded
	get("load", `{"Key":{"ID":"long"}}`, &part)
	if n := len(part.Entries); n < 5 || n >= thoughts {
		t.Errorf("a reply has %d entries of %d", n, part.Header.Entries)
	}
	var hits sequent.Hits
	get("search", `{"Text":"word","Limit":1000}`, &hits)
	if len(hits.Hits) != web.MaxFound || hits.Next == "" {
		t.Errorf("%d hits, next %q, want %d and more", len(hits.Hits), hits.Next, web.MaxFound)
	}
}
