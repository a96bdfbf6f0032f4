package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/words"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A Mode says what makes a note match.
type Mode string

// The modes of a search.
const (
	Hybrid   Mode = "Hybrid"   // words and links, and meaning if there is an Embedder; the default
	FullText Mode = "FullText" // words
	Semantic Mode = "Semantic" // meaning; needs an Embedder
)

// A Query asks for notes.
type Query struct {
	// Text is what to look for: words, of which a note need not have all;
	// "quoted phrases", which it must have; prefix*; -excluded words and
	// -"phrases", which it must not have; and [[links]].
	Text     string
	Mode     Mode     // empty means Hybrid; case does not matter
	PageSize int      // 1 to 100; 0 means 10
	Page     int      // from 1; 0 means 1
	Folder   string   // only notes in this folder of the vault or below it
	Tags     []string // only notes with all of these tags; a/b is also an a
	MinScore float64  // only notes with at least this score, 0 to 1
}

const (
	defaultPage = 10
	largestPage = 100
)

// check fills in what is empty and refuses what is not right.
func (q *Query) check() error {
	modes := []Mode{Hybrid, FullText, Semantic}
	if q.Mode == "" {
		q.Mode = Hybrid
	}
	i := slices.IndexFunc(modes, func(m Mode) bool { return strings.EqualFold(string(m), string(q.Mode)) })
	if i < 0 {
		return invalid("mode", fmt.Sprintf("there is no mode %.40q", q.Mode), "use Hybrid, FullText or Semantic")
	}
	q.Mode = modes[i]
	if q.PageSize == 0 {
		q.PageSize = defaultPage
	}
	if q.Page == 0 {
		q.Page = 1
	}
	switch {
	case q.PageSize < 0 || q.PageSize > largestPage:
		return invalid("pageSize", fmt.Sprintf("pageSize is %d", q.PageSize), fmt.Sprintf("use 1 to %d", largestPage))
	case q.Page < 0:
		return invalid("page", fmt.Sprintf("page is %d", q.Page), "pages are counted from 1")
	case !(q.MinScore >= 0 && q.MinScore <= 1): // NaN neither
		return invalid("minScore", fmt.Sprintf("minScore is %v", q.MinScore), "use 0 to 1")
	case strings.TrimSpace(q.Text) == "":
		return invalid("query", "the query is empty", "write at least one word")
	}
	folder := q.Folder
	if rest, ok := cutPrefixFold(folder, "memory://"); ok {
		folder = rest
	}
	q.Folder = strings.Trim(strings.ReplaceAll(folder, `\`, "/"), "/ ")
	q.Tags = normalizeTags(q.Tags)
	return nil
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// admits reports whether a note is among those that the query is about.
func (q *Query) admits(n *noteInfo) bool {
	if q.Folder != "" && !strings.HasPrefix(n.path, q.Folder+"/") {
		return false
	}
	for _, want := range q.Tags {
		if !slices.ContainsFunc(n.tags, func(have string) bool {
			return have == want || strings.HasPrefix(have, want+"/")
		}) {
			return false
		}
	}
	return true
}

// A unit is what is looked up and counted as one: a word, a phrase, or the
// beginning of a word.
type unit struct {
	tokens []string
	prefix bool
}

func (u unit) equal(o unit) bool { return u.prefix == o.prefix && slices.Equal(u.tokens, o.tokens) }

// A request is a query as the index understands it.
type request struct {
	units    []unit // that a match has one of, for ranking
	required []unit // that it has all of; they are also in units
	excluded []unit // that it has none of
	links    []string
	tokens   []string // of the wanted words, in order
}

// mostUnits bounds what is looked up for a query. What follows it in a text
// without spaces does not count.
const mostUnits = 64

// understand reads the text of a query.
func understand(text string) (request, error) {
	var r request
	r.links = wikilink.Concepts(wikilink.InText(text))
	asked, err := words.Parse(strings.NewReplacer("[[", " ", "]]", " ", "|", " ").Replace(text))
	if err != nil {
		return r, badQuery(err)
	}
	for _, t := range asked.Wanted() {
		r.tokens = append(r.tokens, t.Tokens...)
		whole := unit{t.Tokens, t.Prefix}
		switch {
		case t.Quoted:
			r.required = append(r.required, whole)
			r.want(whole)
		case t.Prefix:
			r.want(whole)
		default:
			for _, u := range parts(t.Tokens) {
				r.want(u)
			}
		}
	}
	for _, t := range asked.Unwanted() {
		r.excluded = append(r.excluded, unit{t.Tokens, t.Prefix})
	}
	return r, nil
}

func (r *request) want(u unit) {
	if len(r.units) < mostUnits && !slices.ContainsFunc(r.units, u.equal) {
		r.units = append(r.units, u)
	}
}

// parts cuts the tokens of a word in units. In a text without spaces these are
// all pairs of neighbouring characters: most words of Chinese and Japanese have
// two, and of a longer one a match has more of the pairs.
func parts(tokens []string) []unit {
	var out []unit
	for i := 0; i < len(tokens); {
		if !words.Unspaced(tokens[i]) {
			out = append(out, unit{tokens: tokens[i : i+1]})
			i++
			continue
		}
		end := i + 1
		for end < len(tokens) && words.Unspaced(tokens[end]) {
			end++
		}
		if end == i+1 {
			out = append(out, unit{tokens: tokens[i:end]})
		}
		for j := i; j+1 < end; j++ {
			out = append(out, unit{tokens: tokens[j : j+2]})
		}
		i = end
	}
	return out
}
