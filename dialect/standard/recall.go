package standard

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/tool"
)

// recallArgs are the arguments of recall_thinking.
type recallArgs struct {
	Session string `json:"sessionId,omitzero" alias:"session_id"`
	Branch  string `json:"branchId,omitzero" alias:"branch_id"`
	Query   string `json:"query,omitzero"`
	View    string `json:"view,omitzero"`
	Status  string `json:"status,omitzero"`
	Limit   int    `json:"limit,omitzero"`
	Tokens  int    `json:"maxTokens,omitzero" alias:"max_tokens"`
	Cursor  string `json:"cursor,omitzero"`
}

const (
	defaultTokens = 2000
	defaultListed = 10 // sessions or hits on a page
	maxListed     = 200
)

// recall answers recall_thinking. Its replies have no structured content, which would
// send every thought twice to the model.
func (d *server) recall(ctx context.Context, c tool.Call, in recallArgs) (tool.Reply, error) {
	if in.Tokens == 0 {
		in.Tokens = defaultTokens
	}
	p := &page{room: min(in.Tokens, d.limit/bytesPerToken) * bytesPerToken}
	if len(c.Unknown) > 0 {
		p.line("unknown fields ignored: " + strings.Join(c.Unknown, ", "))
	}
	engine := d.engine.Owned(c.Caller.Owner)
	err := in.resume()
	project := sequent.ContextOf(ctx).Project
	if in.Session == allProjects {
		project = ""
	}
	switch {
	case err != nil:
	case !slices.Contains(cursorStates, in.Status):
		err = &refusal{
			Code: codeInvalidArgument, Field: "status",
			Message: fmt.Sprintf("status is %.40q, which no thought has", in.Status),
			Fix:     "use " + strings.Join(cursorStates[1:len(cursorStates)-1], ", ") + " or " + cursorStates[len(cursorStates)-1],
		}
	case in.Branch != "" && !in.one():
		err = &refusal{
			Code: codeInvalidArgument, Field: "branchId",
			Message: "branchId is given without a sessionId", Fix: "add the sessionId, or leave branchId out",
		}
	case in.Branch != "" && in.Query != "":
		err = &refusal{
			Code: codeInvalidArgument, Field: "branchId",
			Message: "a query looks into all branches", Fix: "leave branchId out, or leave query out to read that branch",
		}
	case in.Query != "":
		err = p.search(ctx, engine, project, in)
	case !in.one():
		err = p.list(ctx, engine, project, in)
	default:
		err = p.session(ctx, engine, in)
	}
	if err != nil {
		return refuse(err)
	}
	return tool.Reply{Text: p.text()}, nil
}

// allProjects is a sessionId that stands for the sessions of all projects. The definition
// of the tool does not have it: replies that leave sessions out do.
const allProjects = "all"

// one reports whether the call is about one session.
func (in *recallArgs) one() bool { return in.Session != "" && in.Session != allProjects }

// elsewhere writes how many sessions the project leaves out, on the first page.
func (p *page) elsewhere(ctx context.Context, engine *sequent.Engine, project string, in recallArgs) error {
	if in.Cursor != "" {
		return nil
	}
	n, err := engine.Elsewhere(ctx, project)
	if err != nil || n == 0 {
		return err
	}
	sessions := fmt.Sprintf("%d sessions", n)
	switch n {
	case 1:
		sessions = "1 session"
	case sequent.MaxElsewhere:
		sessions = fmt.Sprintf("%d sessions or more", n)
	}
	p.line(fmt.Sprintf("%s in other projects: sessionId %q", sessions, allProjects))
	return nil
}

// bytesPerToken is the ratio that [sequent.Tokens] uses.
const bytesPerToken = 4

// A page builds a text of limited size.
type page struct {
	b    strings.Builder
	room int // bytes left
}

// line adds a line, even if it does not fit.
func (p *page) line(s string) {
	p.b.WriteString(s)
	p.b.WriteByte('\n')
	p.room -= len(s) + 1
}

func (p *page) text() string { return strings.TrimSuffix(p.b.String(), "\n") }

// cut truncates s to n bytes, including the mark at the end.
func cut(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	n = max(n-len(mark), 0)
	for n > 0 && s[n]&0xC0 == 0x80 { // not inside a character
		n--
	}
	return s[:n] + mark
}

// minute is the layout of times for a model.
const minute = "2006-01-02T15:04Z"

// list writes the latest sessions.
func (p *page) list(ctx context.Context, engine *sequent.Engine, project string, in recallArgs) error {
	if err := p.elsewhere(ctx, engine, project, in); err != nil {
		return err
	}
	render := func(h sequent.Header) string {
		return string(h.ID) + " " + string(h.State) + ", " + thoughts(h.Len) + ", " + h.Updated.Format(minute) + ": " + h.Title
	}
	return fill(p, in, "No sessions yet: sequentialthinking begins one.", func(limit int) ([]string, string, error) {
		found, err := engine.Sessions(ctx, sequent.Query{Project: project, Limit: limit, Cursor: in.Cursor})
		return each(found.Headers, render), listCursor(in, found.Next), err
	})
}

// search writes the thoughts that match a query.
func (p *page) search(ctx context.Context, engine *sequent.Engine, project string, in recallArgs) error {
	var id sequent.ID
	if in.one() { // an unknown session is an error, not an empty result
		id, project = sequent.ID(in.Session), ""
		if _, err := engine.Session(ctx, id); err != nil {
			return err
		}
	} else if err := p.elsewhere(ctx, engine, project, in); err != nil {
		return err
	}
	q := sequent.SearchQuery{Session: id, Project: project, Text: in.Query, Cursor: in.Cursor}
	render := func(h sequent.Hit) string {
		const most = 240 // characters
		line := hitName(h) + " " + q.Excerpt(shownOf(h).Text, most)
		if id == "" {
			line = string(h.Key.ID) + " " + line
		}
		return line
	}
	return fill(p, in, "Nothing matches.", func(limit int) ([]string, string, error) {
		q := q
		q.Limit = limit
		found, err := engine.Search(ctx, q)
		lines := each(found.Hits, render)
		if notice := found.Notice(); notice != "" {
			lines = slices.Insert(lines, 0, notice)
		}
		return lines, searchCursor(in, found.Next), err
	})
}

// shownOf returns the thought that holds: the hit, or what has replaced it.
func shownOf(h sequent.Hit) *sequent.Thought {
	if h.Instead != nil {
		return h.Instead
	}
	return &h.Thought
}

// hitName names the thought of a hit that holds, and says whether it does.
func hitName(h sequent.Hit) string {
	name := brief.Name(*shownOf(h))
	switch h.Standing.State {
	case sequent.Superseded:
		name += " (replaces " + brief.Name(h.Thought) + ", which matches)"
	case sequent.Left, sequent.Disputed, sequent.Concluded:
		name += " (" + string(h.Standing.State) + ")"
	}
	return name
}

func each[T any](items []T, render func(T) string) []string {
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = render(item)
	}
	return lines
}

// fill writes the lines that fit and the cursor of the rest. A cursor continues after the
// last line that was fetched, so if not all lines fit, fill fetches fewer.
func fill(p *page, in recallArgs, none string, fetch func(limit int) (lines []string, next string, err error)) error {
	limit := defaultListed
	if in.Limit > 0 {
		limit = min(in.Limit, maxListed)
	}
	for {
		lines, next, err := fetch(limit)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			p.line(none)
			return nil
		}
		more := ""
		if next != "" {
			more = "more: cursor " + quote(next)
		}
		room := p.room - len(more) - 1
		fit := 0
		for fit < len(lines) && room > len(lines[fit]) {
			room -= len(lines[fit]) + 1
			fit++
		}
		if fit < len(lines) && limit > 1 {
			limit = max(min(fit, limit-1), 1)
			continue
		}
		for _, line := range lines {
			p.line(cut(line, max(p.room-len(more)-2, 40)))
		}
		if more != "" {
			p.line(more)
		}
		return nil
	}
}
