package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// A Session is a session in a list, and the head of a page.
type Session struct {
	ID         string          `json:"id"`
	Title      string          `json:"title"`
	State      string          `json:"state"`
	Dialect    string          `json:"dialect,omitempty"`
	Conclusion string          `json:"conclusion,omitempty"`
	Thoughts   int             `json:"thoughts"`
	Branches   int             `json:"branches"`
	Created    time.Time       `json:"created"`
	Updated    time.Time       `json:"updated"`
	Expires    time.Time       `json:"expires,omitzero"`
	Position   string          `json:"position"` // of all thoughts; see Row
	Context    sequent.Context `json:"context,omitzero"`
}

func newSession(h *sequent.Header) Session {
	return Session{
		ID: string(h.ID), Title: h.Title, State: string(h.State), Dialect: h.Dialect, Conclusion: h.Conclusion,
		Thoughts: h.Len, Branches: h.Branches, Created: h.Created, Updated: h.Updated, Expires: h.Expires,
		Position: position(h.Epoch, h.Len), Context: h.Context,
	}
}

// A Line is a branch, or the main line, whose name is empty.
type Line struct {
	Name    string `json:"name"`
	Origin  int    `json:"origin,omitempty"`  // Seq of the thought at which it leaves its parent; 0 for none
	First   int    `json:"first"`             // Seq of its first thought
	Last    int    `json:"last"`              // Seq of its last thought
	Verdict string `json:"verdict,omitempty"` // chosen or rejected, by the thought By
	By      int    `json:"by,omitempty"`
	Left    bool   `json:"left,omitempty"` // nobody is expected to go on with it
}

// A Note is what a person has said about a thought.
type Note struct {
	Seq  int       `json:"seq"`
	Kind string    `json:"kind"` // remark, wrong or approve
	Text string    `json:"text,omitempty"`
	From string    `json:"from,omitempty"`
	At   time.Time `json:"at"`
}

// A Standing lists the thoughts that are not simply current.
type Standing struct {
	Superseded [][2]int `json:"superseded"` // each with the thought that holds instead
	Left       []int    `json:"left"`
	Disputed   []int    `json:"disputed"`
	Concluded  int      `json:"concluded,omitempty"`
}

// A Row is a thought without its text.
type Row struct {
	Seq        int    `json:"seq"`
	Number     int    `json:"number"`
	Branch     string `json:"branch,omitempty"`
	After      int    `json:"after,omitempty"`
	Supersedes int    `json:"supersedes,omitempty"`
	Revision   bool   `json:"revision,omitempty"`
	Last       bool   `json:"last,omitempty"` // the author said that no thought follows
	At         int64  `json:"at"`             // milliseconds since 1970
	Head       string `json:"head"`           // first sentence, at most 96 characters
	Size       int    `json:"size"`           // bytes of the text
}

func newRow(t *sequent.Thought) Row {
	return Row{
		Seq: t.Seq, Number: t.Number, Branch: t.Branch, After: t.After, Supersedes: t.Supersedes,
		Revision: t.Revision, Last: !t.More, At: t.At.UnixMilli(), Head: head(t.Text), Size: len(t.Text),
	}
}

// headSize is the maximum number of characters of the beginning of a text.
const headSize = 96

// head returns the first sentence of a text on one line, shortened to headSize characters.
func head(text string) string {
	var b strings.Builder
	n, space := 0, false
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = n > 0
			continue
		}
		if space {
			if last, _ := utf8.DecodeLastRuneInString(b.String()); n >= 24 && (last == '.' || last == '!' || last == '?') {
				return b.String()
			}
			b.WriteByte(' ')
			n, space = n+1, false
		}
		if n++; n >= headSize && len(text)-i > utf8.RuneLen(r) {
			return b.String() + "…"
		}
		b.WriteRune(r)
	}
	return b.String()
}

// position returns the position of thought seq: the epoch of the session, which tells it
// from an earlier one with the same id, and the position in its log.
func position(epoch int64, seq int) string { return fmt.Sprintf("%d.%d", epoch, seq) }

// parsePosition reads what position returns. Empty means the beginning of any session.
func parsePosition(text string) (epoch int64, seq int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	before, after, _ := strings.Cut(text, ".")
	epoch, err1 := strconv.ParseInt(before, 10, 64)
	seq, err2 := strconv.Atoi(after)
	if err1 != nil || err2 != nil || seq < 0 {
		return 0, 0, invalid("after", "must be a position from an earlier reply")
	}
	return epoch, seq, nil
}

// maxSessions is the maximum number of sessions in a reply.
const maxSessions = 200

// sessions lists sessions, most recently updated first.
func (v *visit) sessions() error {
	limit, err := v.number("limit", maxSessions)
	if err != nil {
		return err
	}
	page, err := v.engine.Sessions(v.r.Context(), sequent.Query{
		Limit: min(max(limit, 1), maxSessions), Cursor: v.r.URL.Query().Get("cursor"), Project: v.r.URL.Query().Get("project"),
	})
	if err != nil {
		return err
	}
	list := make([]Session, len(page.Headers))
	for i := range page.Headers {
		list[i] = newSession(&page.Headers[i])
	}
	return v.reply(struct {
		Sessions []Session `json:"sessions"`
		Next     string    `json:"next,omitempty"`
	}{list, page.Next})
}

// named returns the session of the parameter id.
func (v *visit) named() (*sequent.Session, error) {
	return v.engine.Session(v.r.Context(), sequent.ID(v.r.URL.Query().Get("id")))
}

// session describes one session: its lines, its notes, and which thoughts still hold.
func (v *visit) session() error {
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	s, err := v.named()
	if err != nil {
		return err
	}
	h, notes := s.Header(), []Note{}
	for _, n := range s.Notes() {
		notes = append(notes, Note{Seq: n.Seq, Kind: string(n.Kind), Text: n.Text, From: n.From, At: n.At})
	}
	return v.reply(struct {
		Session  Session  `json:"session"`
		Lines    []Line   `json:"lines"`
		Notes    []Note   `json:"notes"`
		Standing Standing `json:"standing"`
	}{newSession(&h), linesOf(s), notes, standingOf(s)})
}

func standingOf(s *sequent.Session) Standing {
	list := Standing{Superseded: [][2]int{}, Left: []int{}, Disputed: []int{}}
	for i, st := range s.Standings() {
		switch st.State {
		case sequent.Superseded:
			list.Superseded = append(list.Superseded, [2]int{i + 1, st.By})
		case sequent.Left:
			list.Left = append(list.Left, i+1)
		case sequent.Disputed:
			list.Disputed = append(list.Disputed, i+1)
		case sequent.Concluded:
			list.Concluded = i + 1
		}
	}
	return list
}

// note records what a person says about a thought.
func (v *visit) note() error {
	if v.h.config.ReadOnly {
		return &Refusal{Status: http.StatusForbidden, Code: "read_only", Message: "this server records no notes"}
	}
	var in struct {
		ID   string `json:"id"`
		Seq  int    `json:"seq"`
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	if err := v.body(&in); err != nil {
		return err
	}
	note := sequent.Note{Seq: in.Seq, Kind: sequent.NoteKind(in.Kind), Text: in.Text, From: v.subjectName}
	if _, err := v.engine.Update(v.r.Context(), sequent.ID(in.ID), func(c *sequent.Change) error { return c.AddNote(note) }); err != nil {
		return err
	}
	return v.reply(struct{}{})
}

func linesOf(s *sequent.Session) []Line {
	lines := []Line{}
	for _, l := range s.Lines() {
		lines = append(lines, Line{
			Name: l.Label, Origin: l.Origin, First: l.First, Last: l.Last, Verdict: string(l.Verdict), By: l.By, Left: l.Left,
		})
	}
	return lines
}

// maxRows is the maximum number of rows in a reply, and of thoughts of which
// [visit.thoughts] returns the texts maxThoughts.
const (
	maxRows     = 5000
	maxThoughts = 200
	maxTexts    = 1 << 20 // bytes
)

// outline returns rows after a position.
func (v *visit) outline() error {
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	epoch, seq, err := parsePosition(v.r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	limit, err := v.number("limit", maxRows)
	if err != nil {
		return err
	}
	s, err := v.named()
	if err != nil {
		return err
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
	return v.reply(struct {
		Rows     []Row  `json:"rows"`
		Position string `json:"position"` // of the last row
		More     bool   `json:"more"`
	}{rows, position(s.Epoch(), seq), seq < s.Len()})
}

// A Text is what a Row lacks of a thought.
type Text struct {
	Seq      int    `json:"seq"`
	Text     string `json:"text"`
	Note     string `json:"note,omitempty"`
	Total    int    `json:"total"`
	At       string `json:"at"`
	Revises  *int   `json:"revises,omitempty"` // the author's number
	From     *int   `json:"from,omitempty"`    // the author's number
	Position string `json:"position"`
}

// thoughts returns the texts of a range of the log, at most 200 and about 1 MiB.
func (v *visit) thoughts() error {
	from, err := v.number("from", 1)
	if err != nil {
		return err
	}
	to, err := v.number("to", from)
	if err != nil {
		return err
	}
	s, err := v.named()
	if err != nil {
		return err
	}
	texts, size := []Text{}, 0
	for t := range s.Since(max(from, 1) - 1) {
		size += len(t.Text) + len(t.Note)
		if t.Seq > to || len(texts) == maxThoughts || len(texts) > 0 && size > maxTexts {
			break
		}
		texts = append(texts, Text{
			Seq: t.Seq, Text: t.Text, Note: t.Note, Total: t.Total, At: t.At.Format(time.RFC3339Nano),
			Revises: number(t.Revises), From: number(t.From), Position: position(s.Epoch(), t.Seq),
		})
	}
	return v.reply(struct {
		Thoughts []Text `json:"thoughts"`
	}{texts})
}

func number(r sequent.Ref) *int {
	if n, ok := r.Number(); ok {
		return &n
	}
	return nil
}

// A ChainStep is a thought of the chain that a line stands for.
type ChainStep struct {
	Seq      int   `json:"seq"`
	Place    int   `json:"place"`              // number of the first thought that it replaces, otherwise its own
	Replaced []int `json:"replaced,omitempty"` // Seqs of the thoughts it replaced
}

// chain returns the effective chain of a line.
func (v *visit) chain() error {
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	s, err := v.named()
	if err != nil {
		return err
	}
	steps := []ChainStep{}
	for _, step := range s.Effective(v.r.URL.Query().Get("line")) {
		steps = append(steps, ChainStep{Seq: step.Seq, Place: step.Place, Replaced: step.Replaced})
	}
	return v.reply(struct {
		Steps    []ChainStep `json:"steps"`
		Position string      `json:"position"`
	}{steps, position(s.Epoch(), s.Len())})
}

// tree returns the session in reading order: each branch follows the thought at which it
// leaves. Each thought is its Seq and its depth.
func (v *visit) tree() error {
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	s, err := v.named()
	if err != nil {
		return err
	}
	entries := s.Outline()
	list := make([][2]int, len(entries))
	for i := range entries {
		list[i] = [2]int{entries[i].Seq, entries[i].Depth}
	}
	return v.reply(struct {
		Thoughts [][2]int `json:"thoughts"`
		Position string   `json:"position"`
	}{list, position(s.Epoch(), s.Len())})
}

// A Hit is a thought that a search found.
type Hit struct {
	Session string  `json:"session"`
	Title   string  `json:"title"`
	Seq     int     `json:"seq"`
	Number  int     `json:"number"`
	Branch  string  `json:"branch,omitempty"`
	Excerpt string  `json:"excerpt"`
	Score   float64 `json:"score"`
	At      int64   `json:"at"`
	State   string  `json:"state"`        // of the session
	Holds   string  `json:"standing"`     // current, superseded, left, disputed or concluded
	By      int     `json:"by,omitempty"` // Seq of the thought that holds instead
}

// search finds thoughts by their words.
func (v *visit) search() error {
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	limit, err := v.number("limit", 50)
	if err != nil {
		return err
	}
	query := v.r.URL.Query()
	q := sequent.SearchQuery{
		Text: query.Get("q"), Session: sequent.ID(query.Get("id")), Limit: min(max(limit, 1), 200), Cursor: query.Get("cursor"),
		Project: query.Get("project"),
	}
	found, err := v.engine.Search(v.r.Context(), q)
	if err != nil {
		return err
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
	return v.reply(struct {
		Hits []Hit  `json:"hits"`
		Next string `json:"next,omitempty"`
	}{hits, found.Next})
}

// export returns the session as a file.
func (v *visit) export() error {
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	s, err := v.named()
	if err != nil {
		return err
	}
	switch format := cmp.Or(v.r.URL.Query().Get("format"), "md"); format {
	case "md":
		v.sendBytes(http.StatusOK, "text/markdown; charset=utf-8", []byte(archive.Markdown(s)))
	case "mermaid":
		v.sendBytes(http.StatusOK, "text/plain; charset=utf-8", []byte(archive.Mermaid(s)))
	case "json":
		h, entries, err := v.engine.Entries(v.r.Context(), s.ID())
		if err != nil {
			return err
		}
		v.sendBytes(http.StatusOK, "application/json", archive.Log(h, entries))
	default:
		return invalid("format", "must be md, json or mermaid")
	}
	return nil
}
