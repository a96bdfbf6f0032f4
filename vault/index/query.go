package index

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/vault/wikilink"
	"github.com/sequent-dev/sequent/words"
)

// A Mode selects what makes a note match.
type Mode string

// The modes of a search.
const (
	Hybrid   Mode = "Hybrid"   // words and links, and meaning if there is an Embedder; the default
	FullText Mode = "FullText" // words
	Semantic Mode = "Semantic" // meaning; needs an Embedder
)

// A Query asks for notes.
type Query struct {
	// Text holds words, of which a note needs at least one; "quoted phrases",
	// which it must have; prefix*; -excluded words and -"phrases"; and [[links]].
	// English words also match their other forms, unless they are quoted. English
	// function words count only in a query of nothing else.
	Text     string
	Mode     Mode     // empty means Hybrid; case-insensitive
	PageSize int      // 1 to 100; 0 means 10
	Page     int      // from 1; 0 means 1
	Folder   string   // only notes in or below this folder of the vault
	Tags     []string // only notes with all of these tags; the tag a/b is also an a
	MinScore float64  // only notes with at least this score, 0 to 1
}

const (
	defaultPageSize = 10
	maxPageSize     = 100
)

// check sets defaults and refuses invalid values.
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
		q.PageSize = defaultPageSize
	}
	if q.Page == 0 {
		q.Page = 1
	}
	switch {
	case q.PageSize < 0 || q.PageSize > maxPageSize:
		return invalid("pageSize", fmt.Sprintf("pageSize is %d", q.PageSize), fmt.Sprintf("use 1 to %d", maxPageSize))
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

// admits reports whether a note is in the query's folder and has its tags.
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

// A unit is what the index looks up: a word, a phrase or the beginning of a word.
type unit struct {
	tokens []string
	prefix bool
	stem   bool // tokens has one element, the stem of the word
}

func (u unit) equal(o unit) bool {
	return u.prefix == o.prefix && u.stem == o.stem && slices.Equal(u.tokens, o.tokens)
}

// fts5 returns the unit in the query language of FTS5. Tokens hold only letters,
// marks and digits, and are quoted: no input is taken for syntax.
func (u unit) fts5() string {
	columns, star := "head body", ""
	if u.stem {
		columns = "head_stems body_stems"
	}
	if u.prefix {
		star = " *"
	}
	return "{" + columns + `} : "` + strings.Join(u.tokens, " ") + `"` + star
}

// A request is a parsed query.
type request struct {
	units    []unit // a match has at least one of them
	required []unit // a match has all of them; they are also in units
	excluded []unit // a match has none of them
	links    []string
	tokens   []string // of the wanted words, in order
}

// maxUnits limits how many units of a query are looked up.
const maxUnits = 64

// parse parses the text of a query.
func parse(text string) (request, error) {
	var r request
	r.links = wikilink.Concepts(wikilink.InText(text))
	query, err := words.Parse(strings.NewReplacer("[[", " ", "]]", " ", "|", " ").Replace(text))
	if err != nil {
		return r, badQuery(err)
	}
	var little []unit // units that say little
	for _, t := range query.Wanted() {
		r.tokens = append(r.tokens, t.Tokens...)
		switch {
		case t.Quoted:
			u := unit{tokens: t.Tokens, prefix: t.Prefix}
			r.required = appendNew(r.required, u)
			r.units = appendNew(r.units, u)
		case t.Prefix:
			r.units = appendNew(r.units, unit{tokens: t.Tokens, prefix: true})
		default:
			for _, part := range parts(t.Tokens) {
				if saysLittle(part) {
					little = appendNew(little, unit{tokens: part})
				} else if s, ok := stem(part[0]); ok && len(part) == 1 {
					r.units = appendNew(r.units, unit{tokens: []string{s}, stem: true})
				} else {
					r.units = appendNew(r.units, unit{tokens: part})
				}
			}
		}
	}
	if len(r.units) == 0 {
		r.units = little
	}
	for _, t := range query.Unwanted() {
		r.excluded = append(r.excluded, unit{tokens: t.Tokens, prefix: t.Prefix})
	}
	return r, nil
}

func appendNew(list []unit, u unit) []unit {
	if len(list) < maxUnits && !slices.ContainsFunc(list, u.equal) {
		list = append(list, u)
	}
	return list
}

// parts divides the tokens of a word into units. In scripts without spaces these
// are all pairs of neighbouring characters: most words of Chinese and Japanese
// have two characters, and a longer word has more pairs in common with a match.
func parts(tokens []string) [][]string {
	var out [][]string
	for i := 0; i < len(tokens); {
		if !words.Unspaced(tokens[i]) {
			out = append(out, tokens[i:i+1])
			i++
			continue
		}
		end := i + 1
		for end < len(tokens) && words.Unspaced(tokens[end]) {
			end++
		}
		if end == i+1 {
			out = append(out, tokens[i:end])
		}
		for j := i; j+1 < end; j++ {
			out = append(out, tokens[j:j+2])
		}
		i = end
	}
	return out
}
