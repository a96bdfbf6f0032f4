package web

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/article"
)

// A reading is a request for what can be read: by HTTP, and by the viewer in a chat.
type reading struct {
	engine *sequent.Engine // of the owner
	query  url.Values
	// session returns a session as the reader may see it, and public takes the rest from its document.
	session func(context.Context, sequent.ID) (*sequent.Session, error)
	public  func(*Document)
	private bool // the reader sees nothing that tells whose the session is
}

// readers has the documents of the API by name.
var readers = map[string]func(context.Context, reading) (any, error){
	"sessions": readSessions,
	"session":  readSession,
	"article":  readArticle,
	"search":   readSearch,
}

// limit returns the parameter limit, which is at most the given number, and without it that number.
func (r reading) limit(most int) (int, error) {
	text := r.query.Get("limit")
	if text == "" {
		return most, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, invalid("limit", "must be a number, 0 or higher")
	}
	return min(max(n, 1), most), nil
}

// Limits of a page of a list.
const (
	maxSessions = 200
	maxHits     = 200
)

// readSessions lists sessions, most recently updated first.
func readSessions(ctx context.Context, r reading) (any, error) {
	limit, err := r.limit(maxSessions)
	if err != nil {
		return nil, err
	}
	page, err := r.engine.Sessions(ctx, sequent.Query{Limit: limit,
		Cursor: r.query.Get("cursor"), Project: r.query.Get("project")})
	if err != nil {
		return nil, err
	}
	list := make([]sequent.Header, len(page.Headers))
	for i, h := range page.Headers {
		list[i] = listed(h)
	}
	return struct {
		Sessions []sequent.Header `json:"sessions"`
		Next     string           `json:"next,omitempty"`
	}{list, page.Next}, nil
}

// readSession returns a [Document]. Rows after a position of another session with the same id begin
// with the first.
func readSession(ctx context.Context, r reading) (any, error) {
	epoch, seq, err := parsePosition(r.query.Get("after"))
	if err != nil {
		return nil, err
	}
	limit, err := r.limit(maxRows)
	if err != nil {
		return nil, err
	}
	s, err := r.session(ctx, sequent.ID(r.query.Get("id")))
	if err != nil {
		return nil, err
	}
	if epoch != 0 && epoch != s.Epoch() {
		seq = 0
	}
	d := documentOf(s, seq, limit)
	r.public(&d)
	return d, nil
}

// An Article is a session as people read it. Its HTML is safe: texts of thoughts become elements of Markdown and
// nothing else.
type Article struct {
	HTML     string `json:"html"`
	Position string `json:"position"` // after the last thought
	Thoughts int    `json:"thoughts"`
}

// Limits of the texts of an article. Those beyond are asked for when they come into view.
const (
	wholeArticle  = 1000    // thoughts of a session whose article has all texts
	firstTexts    = 100     // thoughts of a longer one whose texts it has
	maxArticle    = 1 << 20 // bytes
	articleWindow = 200     // thoughts that are asked for by from and to
)

// readArticle returns an [Article]: with from and to the elements of these thoughts, otherwise the article, which with
// after has the texts of later thoughts only.
func readArticle(ctx context.Context, r reading) (any, error) {
	epoch, after, err := parsePosition(r.query.Get("after"))
	if err != nil {
		return nil, err
	}
	numbers := make(map[string]int)
	for _, name := range []string{"from", "to", "at"} {
		if numbers[name], err = strconv.Atoi(cmp.Or(r.query.Get(name), "0")); err != nil || numbers[name] < 0 {
			return nil, invalid(name, "must be a number, 0 or higher")
		}
	}
	s, err := r.session(ctx, sequent.ID(r.query.Get("id")))
	if err != nil {
		return nil, err
	}
	if epoch != s.Epoch() {
		after = 0
	}
	from, to, size := numbers["from"], numbers["to"], 0
	o := article.Options{At: numbers["at"], Short: r.query.Has("short"), Public: r.private}
	o.Text = func(t *sequent.Thought) bool {
		if near := max(o.At, after); s.Len() > wholeArticle && to == 0 && !o.Short && (t.Seq <= near-firstTexts/2 || t.Seq > near+firstTexts) {
			return false
		}
		if t.Seq > after {
			size += len(t.Text) + len(t.Note)
		}
		return t.Seq > after && size <= maxArticle
	}
	var text []byte
	if lines := r.query["line"]; len(lines) > 0 {
		if len(lines) != 2 || slices.ContainsFunc(lines, func(name string) bool { return !hasLine(s, name) }) {
			return nil, invalid("line", "must be given twice, each time a line of the session; the main line is empty")
		}
		text, err = article.Compare(ctx, s, lines[0], lines[1], o)
	} else if to > 0 {
		text, err = article.Thoughts(ctx, s, from, min(to, from+articleWindow-1), o)
	} else {
		text, err = article.HTML(ctx, s, o)
	}
	return Article{string(text), position(s.Epoch(), s.Len()), s.Len()}, err
}

func hasLine(s *sequent.Session, name string) bool {
	return slices.ContainsFunc(s.Lines(), func(l sequent.Line) bool { return l.Label == name })
}

// A Hit is a thought that a search found.
type Hit struct {
	Session    string  `json:"session"`
	Title      string  `json:"title"`
	Seq        int     `json:"seq"`
	Number     int     `json:"number"`
	Branch     string  `json:"branch,omitempty"`
	Excerpt    string  `json:"excerpt"`
	Score      float64 `json:"score"`
	At         int64   `json:"at"`
	State      string  `json:"state"`        // of the session
	Holds      string  `json:"standing"`     // current, superseded, rejected, undecided, disputed or concluded
	By         int     `json:"by,omitempty"` // Seq of the thought that holds instead
	brief.Gist         // of the session; in its first hit, of the best maxTold sessions
}

const (
	maxTold   = 10  // sessions whose gist is read for a page of hits
	gistBytes = 240 // of each text
)

// readSearch finds thoughts by their words.
func readSearch(ctx context.Context, r reading) (any, error) {
	limit, err := r.limit(maxHits)
	if err != nil {
		return nil, err
	}
	q := sequent.SearchQuery{
		Text: r.query.Get("q"), Session: sequent.ID(r.query.Get("id")), Limit: limit,
		Cursor: r.query.Get("cursor"), Project: r.query.Get("project"),
	}
	found, err := r.engine.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	hits := []Hit{}
	told := make(map[sequent.ID]bool)
	for i := range found.Hits {
		h, t := &found.Hits[i], &found.Hits[i].Thought
		hits = append(hits, Hit{
			Session: string(h.Key.ID), Title: h.Title, Seq: t.Seq, Number: t.Number, Branch: t.Branch,
			Excerpt: q.Excerpt(t.Text, 160),
			Score:   h.Score, At: t.At.UnixMilli(), State: string(h.State), Holds: string(h.Standing.State), By: h.Standing.By,
		})
		if q.Session != "" || told[h.Key.ID] || len(told) == maxTold {
			continue
		}
		told[h.Key.ID] = true
		s, err := r.engine.Session(ctx, h.Key.ID)
		switch {
		case err == nil:
			hits[len(hits)-1].Gist = brief.About(s, 0, gistBytes)
		case !errors.Is(err, sequent.ErrNotFound): // deleted meanwhile
			return nil, err
		}
	}
	return struct {
		Hits   []Hit  `json:"hits"`
		Next   string `json:"next,omitempty"`
		Notice string `json:"notice,omitempty"` // no thought has all words
	}{hits, found.Next, found.Notice()}, nil
}
