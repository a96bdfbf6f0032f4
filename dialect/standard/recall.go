package standard

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/tool"
)

// recallArgs are the arguments of recall_thinking.
type recallArgs struct {
	Session string `json:"sessionId,omitzero" alias:"session_id"`
	Branch  string `json:"branchId,omitzero" alias:"branch_id"`
	Query   string `json:"query,omitzero"`
	View    string `json:"view,omitzero"`
	Limit   int    `json:"limit,omitzero"`
	Tokens  int    `json:"maxTokens,omitzero" alias:"max_tokens"`
	Cursor  string `json:"cursor,omitzero"`
}

const (
	defaultTokens = 2000
	defaultListed = 10 // sessions or hits on a page
	maxListed     = 200
	bytesPerToken = 4 // the ratio that [dialect.Tokens] uses
)

// allProjects is a sessionId that stands for the sessions of all projects. The definition
// of the tool does not have it: replies that leave sessions out do.
const allProjects = "all"

// recall answers recall_thinking. Its replies have no structured content, which would
// send every thought twice to the model.
func (d *server) recall(ctx context.Context, c tool.Call, in recallArgs) (tool.Reply, error) {
	in.Tokens = cmp.Or(in.Tokens, defaultTokens)
	p := &page{room: min(in.Tokens*bytesPerToken, d.limit)}
	if len(c.Unknown) > 0 {
		p.line("unknown fields ignored: " + strings.Join(c.Unknown, ", "))
	}
	if err := d.read(ctx, c.Caller, p, in); err != nil {
		return d.refuse(ctx, c.Caller, in.Session, err)
	}
	return tool.Reply{Text: p.text()}, nil
}

// read writes what a call of recall_thinking asks for.
func (d *server) read(ctx context.Context, c tool.Caller, p *page, in recallArgs) error {
	engine, project := d.engine.Owned(c.Owner), c.Scope.Project
	if in.Session == allProjects {
		project = ""
	}
	switch {
	case !in.resume():
		return errCursor
	case in.Branch != "" && !in.one():
		return &refusal{
			Code: codeInvalidArgument, Field: "branchId",
			Message: "branchId is given without a sessionId", Fix: "add the sessionId, or leave branchId out",
		}
	case in.Branch != "" && in.Query != "":
		return &refusal{
			Code: codeInvalidArgument, Field: "branchId",
			Message: "a query looks into all branches", Fix: "leave branchId out, or leave query out to read that branch",
		}
	}
	if !in.one() {
		if err := p.elsewhere(ctx, engine, project, in); err != nil {
			return err
		}
		if in.Query == "" {
			return p.list(ctx, engine, project, in)
		}
		return p.search(ctx, engine, sequent.SearchQuery{Project: project, Text: in.Query, Distinct: true}, in)
	}
	s, err := engine.Session(ctx, sequent.ID(in.Session)) // unknown is an error, not an empty result
	if err != nil {
		return err
	}
	if in.Query != "" {
		return p.search(ctx, engine, sequent.SearchQuery{Session: s.ID(), Text: in.Query}, in)
	}
	return p.session(ctx, s, in)
}

// one reports whether the call is about one session.
func (in *recallArgs) one() bool { return in.Session != "" && in.Session != allProjects }

var errCursor = &refusal{
	Code: codeInvalidCursor, Field: "cursor",
	Message: "the cursor does not belong to this call",
	Fix:     "repeat the call that returned it, with the cursor and the same other arguments, or leave it out",
}

// cursor returns the cursor of the page that begins at next. It has at most 20 tokens, because a model
// repeats it, and ends in a checksum of the arguments that it belongs to.
func (in *recallArgs) cursor(next string) string {
	return fmt.Sprintf("%s-%s", next, in.checksum())
}

func (in *recallArgs) checksum() string {
	const sums = 1 << 16 // 16 bits: this tells calls apart, and protects nothing
	args := strings.Join([]string{in.Session, in.Branch, in.Query, cmp.Or(in.View, viewEffective)}, "\x00")
	return fmt.Sprint(crc32.ChecksumIEEE([]byte(args)) % sums)
}

// resume replaces the cursor by what was given to cursor. It returns false if the cursor
// belongs to another call.
func (in *recallArgs) resume() bool {
	if in.Cursor == "" {
		return true
	}
	next, ok := strings.CutSuffix(in.Cursor, "-"+in.checksum())
	in.Cursor = next
	return ok && next != ""
}

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
	return strings.ToValidUTF8(s[:max(n-len(mark), 0)], "") + mark
}

// elsewhere writes how many sessions the project leaves out, on the first page.
func (p *page) elsewhere(ctx context.Context, engine *sequent.Engine, project string, in recallArgs) error {
	if in.Cursor != "" || project == "" {
		return nil
	}
	const most = 100
	others, err := engine.Sessions(ctx, sequent.Query{Elsewhere: project, Limit: most})
	n := len(others.Headers)
	if err != nil || n == 0 {
		return err
	}
	more := ""
	if others.Next != "" {
		more = " or more"
	}
	p.line(fmt.Sprintf("%s%s in other projects: sessionId %q", printable.Count(n, "session", "sessions"), more, allProjects))
	return nil
}

// list writes the latest sessions. In a project, without a limit, those come first that are unfinished, with
// their last thoughts.
func (p *page) list(ctx context.Context, engine *sequent.Engine, project string, in recallArgs) error {
	none := "No sessions yet: sequentialthinking begins one."
	var open []sequent.ID
	if project != "" && in.Cursor == "" && in.Limit == 0 {
		lines, ids, err := brief.Unfinished(ctx, engine, project, p.room/2)
		if err != nil {
			return err
		}
		if open = ids; len(open) > 0 {
			p.line("unfinished here:\n" + strings.Join(lines, "\n"))
			none = ""
		}
	}
	return p.fill(in, none, func(limit int) (lines []string, next string, err error) {
		found, err := engine.Sessions(ctx, sequent.Query{Project: project, Limit: limit, Cursor: in.Cursor})
		for _, h := range found.Headers {
			if !slices.Contains(open, h.ID) {
				lines = append(lines, brief.Row(h))
			}
		}
		if len(open) > 0 && len(lines) > 0 {
			lines[0] = "latest:\n" + lines[0]
		}
		return lines, found.Next, err
	})
}

// aboutBytes is the size of each text about the session of a hit.
const aboutBytes = 120

// search writes the thoughts that match a query; of all sessions, the best of each with what its session is
// about.
func (p *page) search(ctx context.Context, engine *sequent.Engine, q sequent.SearchQuery, in recallArgs) error {
	const most = 240 // characters
	return p.fill(in, "Nothing matches.", func(limit int) (lines []string, next string, err error) {
		q.Cursor, q.Limit = in.Cursor, limit
		found, err := engine.Search(ctx, q)
		for _, h := range found.Hits {
			t, id := h.Holding(), h.Key.ID
			line := hitName(h) + " " + q.Excerpt(t.Text, most)
			if q.Session == "" {
				line = string(id) + " " + line
				s, err := engine.Session(ctx, id)
				if err != nil {
					continue // deleted meanwhile
				}
				for _, about := range brief.About(s, t.Seq, aboutBytes).Lines() {
					line += "\n  " + about
				}
			}
			lines = append(lines, line)
		}
		if notice := found.Notice(); notice != "" {
			lines = slices.Insert(lines, 0, notice)
		}
		return lines, found.Next, err
	})
}

// hitName names the thought of a hit that holds, and says whether it does.
func hitName(h sequent.Hit) string {
	name := brief.Name(*h.Holding())
	switch h.Standing.State {
	case sequent.Superseded:
		name += " (replaces " + brief.Name(h.Thought) + ", which matches)"
	case sequent.OnRejected, sequent.OnUndecided, sequent.Disputed, sequent.Concluded:
		name += " (" + string(h.Standing.State) + ")"
	}
	return name
}

// fill writes the lines that fit and the cursor of the rest. A cursor continues after the
// last line that was fetched, so if not all lines fit, fill fetches fewer.
func (p *page) fill(in recallArgs, none string, fetch func(limit int) (lines []string, next string, err error)) error {
	limit := min(cmp.Or(in.Limit, defaultListed), maxListed)
	for {
		lines, next, err := fetch(limit)
		if err != nil {
			return err
		}
		if len(lines) == 0 && next == "" {
			if none != "" {
				p.line(none)
			}
			return nil
		}
		more := ""
		if next != "" {
			more = fmt.Sprintf("more: cursor %q", in.cursor(next))
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

func thoughts(n int) string { return printable.Count(n, "thought", "thoughts") }
