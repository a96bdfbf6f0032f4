package web

import (
	"context"
	"net/url"
	"strconv"

	"github.com/sequent-dev/sequent"
)

// A reading is a request for a document of the API.
type reading struct {
	ctx    context.Context
	engine *sequent.Engine // of the owner
	query  url.Values
	// snapshot returns a session as the reader may see it.
	snapshot func(context.Context, sequent.ID) (*sequent.Session, error)
}

// A document is a kind of what can be read: by HTTP, and by the viewer in a chat.
type document struct {
	read  func(reading) (any, error)
	light bool // it costs about the same whatever the session
}

// documents has what can be read, by name.
func documents() map[string]document {
	return map[string]document{
		"sessions": {read: reading.sessions, light: true},
		"session":  {read: reading.session},
		"outline":  {read: reading.outline},
		"thoughts": {read: reading.thoughts, light: true},
		"chain":    {read: reading.chain},
		"tree":     {read: reading.tree},
		"search":   {read: reading.search},
	}
}

// Read returns a document of the API: what GET /api/v1/NAME?QUERY replies. Errors for which the
// caller is at fault are a [*Refusal] or a [*sequent.Error].
func Read(ctx context.Context, e *sequent.Engine, name string, query url.Values) (any, error) {
	d, ok := documents()[name]
	if !ok {
		return nil, invalid("name", "is not a document of the API")
	}
	return d.read(reading{ctx, e, query, e.Session})
}

// number returns a parameter that is a number of at least 0.
func (r reading) number(name string, otherwise int) (int, error) {
	text := r.query.Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, invalid(name, "must be a number, 0 or higher")
	}
	return n, nil
}

// maxSessions is the maximum number of sessions in a reply.
const maxSessions = 200

// sessions lists sessions, most recently updated first.
func (r reading) sessions() (any, error) {
	limit, err := r.number("limit", maxSessions)
	if err != nil {
		return nil, err
	}
	page, err := r.engine.Sessions(r.ctx, sequent.Query{
		Limit: min(max(limit, 1), maxSessions), Cursor: r.query.Get("cursor"), Project: r.query.Get("project"),
	})
	if err != nil {
		return nil, err
	}
	list := make([]Session, len(page.Headers))
	for i := range page.Headers {
		list[i] = newSession(&page.Headers[i])
	}
	return struct {
		Sessions []Session `json:"sessions"`
		Next     string    `json:"next,omitempty"`
	}{list, page.Next}, nil
}

// named returns the session of the parameter id.
func (r reading) named() (*sequent.Session, error) {
	return r.snapshot(r.ctx, sequent.ID(r.query.Get("id")))
}

// session describes one session: its lines, its notes, and which thoughts still hold.
func (r reading) session() (any, error) {
	s, err := r.named()
	if err != nil {
		return nil, err
	}
	return stateOf(s), nil
}

// maxRows is the maximum number of rows in a reply, and of thoughts of which
// [reading.thoughts] returns the texts maxThoughts.
const (
	maxRows     = 5000
	maxThoughts = 200
	maxTexts    = 1 << 20 // bytes
)

// outline returns rows after a position.
func (r reading) outline() (any, error) {
	epoch, seq, err := parsePosition(r.query.Get("after"))
	if err != nil {
		return nil, err
	}
	limit, err := r.number("limit", maxRows)
	if err != nil {
		return nil, err
	}
	s, err := r.named()
	if err != nil {
		return nil, err
	}
	if epoch != 0 && epoch != s.Epoch() {
		seq = 0 // another session with the same id: from its beginning
	}
	limit = min(max(limit, 1), maxRows)
	rows := make([]Row, 0, min(limit, max(s.Len()-seq, 0)))
	for t := range s.Since(seq) {
		if len(rows) == limit {
			break
		}
		rows = append(rows, newRow(&t))
		seq = t.Seq
	}
	return struct {
		Rows     []Row  `json:"rows"`
		Position string `json:"position"` // of the last row
		More     bool   `json:"more"`
		Version  int    `json:"version"` // of the session: it rises with every change
	}{rows, position(s.Epoch(), seq), seq < s.Len(), s.Header().Version}, nil
}

// thoughts returns the texts of a range of the log, at most 200 and about 1 MiB.
func (r reading) thoughts() (any, error) {
	from, err := r.number("from", 1)
	if err != nil {
		return nil, err
	}
	to, err := r.number("to", from)
	if err != nil {
		return nil, err
	}
	s, err := r.named()
	if err != nil {
		return nil, err
	}
	texts, size := []Text{}, 0
	for t := range s.Since(max(from, 1) - 1) {
		size += len(t.Text) + len(t.Note)
		if t.Seq > to || len(texts) == maxThoughts || len(texts) > 0 && size > maxTexts {
			break
		}
		texts = append(texts, newText(&t, s.Epoch()))
	}
	return struct {
		Thoughts []Text `json:"thoughts"`
	}{texts}, nil
}

// chain returns the effective chain of a line.
func (r reading) chain() (any, error) {
	s, err := r.named()
	if err != nil {
		return nil, err
	}
	return struct {
		Steps    []ChainStep `json:"steps"`
		Position string      `json:"position"`
	}{chainOf(s, r.query.Get("line")), position(s.Epoch(), s.Len())}, nil
}

// tree returns the session in reading order: each branch follows the thought at which it
// leaves. Each thought is its Seq and its depth.
func (r reading) tree() (any, error) {
	s, err := r.named()
	if err != nil {
		return nil, err
	}
	return struct {
		Thoughts [][2]int `json:"thoughts"`
		Position string   `json:"position"`
	}{treeOf(s), position(s.Epoch(), s.Len())}, nil
}

// search finds thoughts by their words.
func (r reading) search() (any, error) {
	limit, err := r.number("limit", 50)
	if err != nil {
		return nil, err
	}
	query := r.query
	q := sequent.SearchQuery{
		Text: query.Get("q"), Session: sequent.ID(query.Get("id")), Limit: min(max(limit, 1), 200), Cursor: query.Get("cursor"),
		Project: query.Get("project"),
	}
	found, err := r.engine.Search(r.ctx, q)
	if err != nil {
		return nil, err
	}
	hits := []Hit{}
	for i := range found.Hits {
		h := &found.Hits[i]
		hits = append(hits, Hit{
			Session: string(h.Key.ID), Title: h.Title, Seq: h.Thought.Seq, Number: h.Thought.Number, Branch: h.Thought.Branch,
			Excerpt: q.Excerpt(h.Thought.Text, 160), Score: h.Score, At: h.Thought.At.UnixMilli(),
			State: string(h.State), Holds: string(h.Standing.State), By: h.Standing.By,
		})
	}
	return struct {
		Hits []Hit  `json:"hits"`
		Next string `json:"next,omitempty"`
	}{hits, found.Next}, nil
}
