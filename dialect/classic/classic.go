// Package classic is the sequential-thinking tool with the contract of the reference
// server: nine arguments, no session id, and thoughts drawn on standard error. A
// completed session is written to a file.
package classic

import (
	"context"
	"embed"
	"io"
	"log/slog"
	"strconv"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/tool"
)

var (
	//go:embed tool.json tool.md
	contract embed.FS
	//go:embed documentation.md
	documentation string
)

const name = "classic"

// An Archive stores completed sessions.
type Archive interface {
	// WriteSession writes or replaces the file of a session. When it returns nil, the
	// file is on disk.
	WriteSession(s *sequent.Session) error
}

// A Config configures the dialect.
type Config struct {
	Engine  *sequent.Engine // required
	Archive Archive         // nil means that sessions are not written to files
	Drawing io.Writer       // receives drawings of the thoughts; nil draws none
	Colour  bool            // Drawing is a terminal that shows colours
	Width   func() int      // columns of Drawing; nil or 0 means 80
	Logger  *slog.Logger    // receives failures to write a file, never a thought; nil means discard
}

// New returns the dialect. It panics if there is no engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("classic: Config needs an Engine")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &classic{Config: cfg, scopes: dialect.NewScopes(cfg.Engine, name)}
	if cfg.Drawing != nil {
		c.drawing = &drawing{out: cfg.Drawing, colour: cfg.Colour, width: cfg.Width}
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "The reference server's contract, with a session file on completion.",
		Tools:   []tool.Tool{tool.New(tool.ParseFS(contract, "tool"), c.think, reject)},
		Resources: []dialect.Resource{{
			URI: "sequentialthinking://documentation", Name: "documentation", Title: "Documentation",
			Description: "How the sequentialthinking tool works.", MIME: "text/markdown",
			Read: func(context.Context, tool.Caller) (string, error) { return documentation, nil },
		}},
	}
}

// A classic has the state that all calls share.
type classic struct {
	Config
	scopes  *dialect.Scopes
	drawing *drawing // nil for none
}

// A reply has the members of the contract, in its order.
type reply struct {
	Number   count      `json:"thoughtNumber"`
	Total    count      `json:"totalThoughts"`
	Next     bool       `json:"nextThoughtNeeded"`
	Branches []string   `json:"branches"`
	Length   int        `json:"thoughtHistoryLength"`
	Session  sequent.ID `json:"sessionId"`
	Saved    bool       `json:"sessionSaved"` // the thought is final, and the session's file is on disk
}

// think answers a call.
func (c *classic) think(ctx context.Context, call tool.Call, in args) (tool.Reply, error) {
	if err := in.check(c.Engine.Limits()); err != nil {
		return refuse(err)
	}
	turn, err := c.scopes.Enter(ctx, call.Caller)
	if err != nil {
		return refuse(err)
	}
	// Held until the reply, so that drawings and files are in the order of the log.
	defer turn.Leave()
	in.Total = max(in.Total, in.Number)
	s, err := c.record(ctx, turn, in)
	if err != nil {
		return refuse(err)
	}
	if c.drawing != nil {
		c.drawing.thought(in)
	}
	r := reply{
		Number: in.Number, Total: in.Total, Next: in.Next,
		Branches: jsonscan.SortKeys(s.Branches()), Length: s.Len(), Session: s.ID(),
	}
	if !in.Next {
		r.Saved = c.save(ctx, call.Caller, s)
	}
	said := tool.JSONReply(r)
	said.Beside = brief.Beside(s)
	return said, nil
}

// record appends a thought to the scope's session, or to the next one, whose id is the
// first of this second that no session has.
func (c *classic) record(ctx context.Context, turn *dialect.Turn, in args) (*sequent.Session, error) {
	draft, second, n := in.draft(), "session-"+c.Engine.Now().Format("20060102-150405"), 0
	newID := func() (sequent.ID, error) {
		if n++; n == 1 {
			return sequent.ID(second), nil
		}
		return sequent.ID(second + "-" + strconv.Itoa(n)), nil
	}
	turn.Begins = in.plain() && in.Number == 1
	return turn.Record(ctx, newID, func(c *sequent.Change) error {
		_, err := c.Append(draft)
		return err
	})
}

// save writes the file of a session that was just completed, and reports whether the file
// is complete.
//
// In a scope that processes share, another process may complete the session again, and
// the slower of two writers would leave the older file. So after writing, save looks for
// a later completion and writes that too.
func (c *classic) save(ctx context.Context, caller tool.Caller, s *sequent.Session) bool {
	if c.Archive == nil {
		return false
	}
	ctx = context.WithoutCancel(ctx) // the thought is recorded, so its file is written
	for {
		if err := c.Archive.WriteSession(s); err != nil {
			c.Logger.WarnContext(ctx, "the session file was not written; the thought is recorded",
				"session", string(s.ID()), "error", err)
			return false
		}
		if caller.Scope.Exclusive {
			return true
		}
		later, ok := completedAfter(ctx, c.Engine.Owned(caller.Owner), s)
		if !ok {
			return true
		}
		s = later
	}
}

// completedAfter returns the session as of its latest completion after s.
func completedAfter(ctx context.Context, e *sequent.Engine, s *sequent.Session) (*sequent.Session, bool) {
	now, err := e.Session(ctx, s.ID())
	if err != nil || now.Epoch() != s.Epoch() {
		return nil, false // deleted
	}
	at := 0
	for t := range now.Since(s.Len()) {
		if t.Final {
			at = t.Seq
		}
	}
	return now.Upto(at), at > 0
}
