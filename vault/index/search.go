package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/textsearch"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
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
	// which it must have; prefix*; -excluded words and -"phrases"; and [[links]]: see
	// [textsearch.Parse].
	Text     string   `json:"query"`
	Mode     Mode     `json:"mode,omitzero"`                       // empty means Hybrid; case-insensitive
	PageSize int      `json:"pageSize,omitzero" alias:"page_size"` // 1 to 100; 0 means 10
	Page     int      `json:"page,omitzero"`                       // from 1; 0 means 1
	Folder   string   `json:"folder,omitzero"`                     // only notes in or below this folder of the vault
	Tags     []string `json:"tags"`                                // only notes with all of these tags; the tag a/b is also an a
	MinScore float64  `json:"minScore,omitzero" alias:"min_score"` // only notes with at least this score, 0 to 1
}

// Results is a page of hits.
type Results struct {
	Mode     Mode
	Total    int // hits on all pages
	Page     int
	PageSize int
	Hits     []Hit
	Words    int // of the query that count: a hit has at least one of them, if there are any
	// Warning says what the results lack because of a failure; empty if nothing.
	Warning string
}

// A Hit is a note that matches. All scores are between 0 and 1.
type Hit struct {
	URI     vault.URI `json:"uri"`
	Title   string    `json:"title"`
	Snippet string    `json:"snippet"` // text around a match, one line of at most 200 characters
	Words   int       `json:"-"`       // how many of Results.Words the note has
	// Score orders the hits: Text in mode FullText, Semantic in mode Semantic. In
	// mode Hybrid it joins the three as independent evidence: words alone can
	// reach 1, links alone 0.5, meaning alone 0.5, and each adds to the others.
	Score float64 `json:"score"`
	// Text is 1 for a note that is full of all words of the query. Rare words count
	// more. Half of what a word counts is for its presence, half for its BM25 score as a
	// share of the highest possible.
	Text float64 `json:"textScore,omitempty"`
	// Graph is 1 for a note that links to all concepts of the query, or has their
	// name. A related concept counts half.
	Graph float64 `json:"graphScore,omitempty"`
	// Semantic is the cosine of the query and the nearest passage of the note.
	Semantic float64 `json:"semanticScore,omitempty"`
}

// check sets defaults, brings numbers into their ranges, and refuses a query that cannot be answered.
func (q *Query) check() error {
	const defaultPageSize, maxPageSize = 10, 100
	modes := []Mode{Hybrid, FullText, Semantic}
	q.Mode = cmp.Or(q.Mode, Hybrid)
	mode := slices.IndexFunc(modes, func(m Mode) bool { return strings.EqualFold(string(m), string(q.Mode)) })
	switch {
	case mode < 0:
		return invalid("mode", fmt.Sprintf("there is no mode %.40q", q.Mode), "use Hybrid, FullText or Semantic")
	case strings.TrimSpace(q.Text) == "":
		return invalid("query", "the query is empty", "write at least one word")
	}
	q.Mode = modes[mode]
	q.PageSize = min(max(cmp.Or(q.PageSize, defaultPageSize), 1), maxPageSize)
	q.Page = max(q.Page, 1)
	q.Folder = strings.Trim(strings.TrimPrefix(strings.ReplaceAll(q.Folder, `\`, "/"), "memory://"), "/ ")
	q.Tags = normalizeTags(q.Tags)
	return nil
}

// parse returns the words and the links of a query, at most 64 of these.
func parse(text string) (words textsearch.Query, links []string, err error) {
	const maxLinks = 64
	links = wikilink.Concepts(wikilink.InText(text))
	words, err = textsearch.Parse(strings.NewReplacer("[[", " ", "]]", " ", "|", " ").Replace(text))
	if e, ok := errors.AsType[*textsearch.Error](err); ok {
		err = invalid("query", e.Msg, e.Fix)
	}
	return words, links[:min(len(links), maxLinks)], err
}

// Search returns the notes that match a query, best first. It first indexes the notes that
// have changed, and calls progress, unless that is nil, meanwhile.
//
// In mode Hybrid, a hit has a word of the query, a link to one of its concepts, or
// a passage that is clearly nearer in meaning than two notes of the vault are on
// average.
func (x *Index) Search(ctx context.Context, q Query, progress func(Progress)) (out Results, err error) {
	if err := q.check(); err != nil {
		return out, err
	}
	words, links, err := parse(q.Text)
	if err != nil && q.Mode != Semantic {
		return out, err
	}
	if q.Mode == Semantic && x.cfg.Embedder == nil {
		return out, sequent.Errorf(CodeNoEmbeddings, "mode", "set SEQUENT_EMBEDDINGS_URL, or search with mode Hybrid or FullText",
			"a semantic search needs an embedding model, and none is configured")
	}
	err = x.current(ctx, false, progress, func(Report) (err error) {
		s := search{index: x, query: &q, words: words, links: links, found: make(map[int64]*found)}
		out = Results{Mode: q.Mode, Page: q.Page, PageSize: q.PageSize}
		if x.cfg.Embedder != nil && q.Mode != FullText {
			s.vector, err = x.queryVector(ctx, &q)
		}
		if err != nil {
			if q.Mode == Semantic || ctx.Err() != nil || isDamage(err) {
				return err
			}
			x.cfg.Log.WarnContext(ctx, "a search ignores meaning, because the embedding model did not answer", "error", err)
			out.Warning = "the embedding model did not answer; the results are by words and links alone"
		}
		return x.view(ctx, func(t *tx) {
			s.tx = t
			s.run(ctx, &out)
		})
	})
	return out, err
}

// A search is one call of Search.
type search struct {
	index  *Index
	tx     *tx
	query  *Query
	words  textsearch.Query
	links  []string
	vector []float32         // of the query; nil if meaning does not count
	notes  float64           // in the index
	rarest []textsearch.Term // the terms of words, those of the fewest notes first
	every  bool              // may be a hit; otherwise the notes in found may be
	found  map[int64]*found  // candidates
}

// A found note is a candidate with its scores.
type found struct {
	id                           int64
	hit                          bool
	score, text, graph, semantic float64
	near                         float64 // semantic against notes picked at random: 0 to 1
	terms                        uint64  // a bit for each of search.rarest that the note has
}

// The hybrid score that a note can reach by its links alone, and by its meaning
// alone.
const (
	linkWeight    = 0.5
	meaningWeight = 0.5
)

func (s *search) run(ctx context.Context, out *Results) {
	s.addCandidates()
	if s.query.Mode != Semantic {
		s.addMatches()
	}
	if s.query.Mode == Hybrid {
		s.addLinked()
	}
	if s.vector != nil {
		s.addNear(out)
	}
	var all []*found
	for _, f := range s.found {
		switch f.score = 1 - (1-f.text)*(1-linkWeight*f.graph)*(1-meaningWeight*f.near); s.query.Mode {
		case FullText:
			f.score = f.text
		case Semantic:
			f.score = f.semantic
		}
		if f.hit && round(f.score) >= s.query.MinScore {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b *found) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	out.Total, out.Words = len(all), len(s.rarest)
	if s.query.Page > len(all) { // the product below could overflow
		return
	}
	first := min((s.query.Page-1)*s.query.PageSize, len(all))
	for _, f := range all[first:min(first+s.query.PageSize, len(all))] {
		out.Hits = append(out.Hits, s.hit(ctx, f))
	}
}

// candidate returns a note with its scores; nil if it may not be a hit.
func (s *search) candidate(id int64) *found {
	f := s.found[id]
	if f == nil && s.every {
		f = &found{id: id}
		s.found[id] = f
	}
	return f
}

// addCandidates counts the notes, and looks up those in the folder, with the tags, with all
// quoted terms and without the excluded ones.
func (s *search) addCandidates() {
	var where []string
	var args []any
	and := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if s.query.Folder != "" {
		and("instr(path, ?) = 1", s.query.Folder+"/")
	}
	for _, tag := range s.query.Tags {
		and("(instr(tags, ?) OR instr(tags, ?))", " "+tag+" ", " "+tag+"/")
	}
	for _, t := range s.words.Wanted() {
		if t.Quoted {
			and("id IN (SELECT rowid FROM words WHERE words MATCH ?)", expression(t))
		}
	}
	for _, t := range s.words.Unwanted() {
		and("id NOT IN (SELECT rowid FROM words WHERE words MATCH ?)", expression(t))
	}
	s.tx.each("SELECT count(*) FROM notes", nil, nil, &s.notes)
	if s.every = len(where) == 0; !s.every {
		var id int64
		query := "SELECT id FROM notes WHERE " + strings.Join(where, " AND ")
		s.tx.each(query, args, func() { s.found[id] = &found{id: id} }, &id)
	}
}

// addMatches makes the notes hits that have at least one term, with their text score. BM25
// alone would not do. For a word that more than half of the notes have it is
// nearly 0, and in a small vault most words are such.
func (s *search) addMatches() {
	type match struct {
		id    int64
		score float64
	}
	type hits struct {
		term    textsearch.Term
		matches []match
		rarity  float64
	}
	var terms []hits
	all := 0.0
	for _, t := range s.words.Wanted() {
		h := hits{term: t}
		var m match
		s.tx.each("SELECT rowid, -bm25(words, 3, 1) FROM words WHERE words MATCH ?", []any{expression(t)}, func() {
			h.matches = append(h.matches, m)
		}, &m.id, &m.score)
		n := float64(len(h.matches))
		h.rarity = math.Log(1 + (s.notes-n+0.5)/(n+0.5))
		all += h.rarity
		terms = append(terms, h)
	}
	slices.SortStableFunc(terms, func(a, b hits) int { return len(a.matches) - len(b.matches) })
	for i, h := range terms {
		s.rarest = append(s.rarest, h.term)
		n := float64(len(h.matches))
		full := 2.2 * max(math.Log((s.notes-n+0.5)/(n+0.5)), 1e-6) // what BM25 tends to for a text full of the term
		for _, m := range h.matches {
			if f := s.candidate(m.id); f != nil {
				f.hit = true
				f.text += h.rarity / all * (1 + min(m.score/full, 1)) / 2
				f.terms |= 1 << i
			}
		}
	}
}

func (s *search) hit(ctx context.Context, f *found) Hit {
	h := Hit{
		Words: bits.OnesCount64(f.terms),
		Score: round(f.score), Text: round(f.text), Graph: round(f.graph), Semantic: round(f.semantic),
	}
	var p string
	s.tx.each("SELECT path, title FROM notes WHERE id = ?", []any{f.id}, nil, &p, &h.Title)
	h.URI, _ = vault.PathURI(p) // it was one
	var show []textsearch.Term
	for i, t := range s.rarest {
		if f.terms&(1<<i) != 0 {
			show = append(show, t)
		}
	}
	h.Snippet, _ = excerpt(s.index.body(ctx, h.URI), show, s.links)
	return h
}

// body returns the body of a note; empty if it was deleted since.
func (x *Index) body(ctx context.Context, uri vault.URI) string {
	n, err := x.cfg.Vault.Read(ctx, uri)
	if err != nil {
		return ""
	}
	return n.Body
}

// Excerpt returns the piece of a text that a search with the query would show, at most
// 200 characters in one line, and whether it has a word of the query.
func Excerpt(text, query string) (piece string, matches bool) {
	words, links, err := parse(query)
	if err != nil {
		return "", false
	}
	return excerpt(text, words.Wanted(), links)
}

// markup is what says nothing in a snippet: the marks of headings, the ids of blocks, and
// the times below thoughts.
var markup = lazyregexp.New(`(?m)^[ \t]*#+[ \t]|(?:^[ \t]*|[ \t])\^[A-Za-z0-9-]+[ \t\r]*$|^\*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\*`)

// excerpt returns text of a note's body around the first term or the first name of a
// concept that is in it, and whether there is one.
func excerpt(body string, terms []textsearch.Term, concepts []string) (piece string, matches bool) {
	const maxSnippet = 200 // characters
	body = markup().ReplaceAllString(body, "")
	terms = slices.Clone(terms)
	for _, c := range concepts {
		terms = append(terms, textsearch.Term{Tokens: textsearch.Tokens(c), Quoted: true})
	}
	for _, t := range terms {
		if piece, at := textsearch.Excerpt(body, t.Query(), maxSnippet); len(at) > 0 {
			return piece, true
		}
	}
	piece, _ = textsearch.Excerpt(body, textsearch.Query{}, maxSnippet)
	return piece, false
}

// round keeps the four decimals of a score that are worth reading.
func round(score float64) float64 { return math.Round(score*1e4) / 1e4 }
