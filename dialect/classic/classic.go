// Package classic is the sequential-thinking tool as most clients know it: nine
// arguments, a session that nobody names, thoughts drawn for people on standard
// error. When a session is completed it is saved to a file.
package classic

import (
	"context"
	_ "embed" // for the contract
	"errors"
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/scope"
	"github.com/sequent-dev/sequent/tool"
)

var (
	//go:embed tool.json
	specJSON []byte
	//go:embed tool.md
	specText []byte
	//go:embed documentation.md
	documentation string
)

const name = "classic"

// An Archive keeps completed sessions.
type Archive interface {
	// WriteSession writes a session's file or replaces it. When it returns nil
	// the file is on disk.
	WriteSession(s *sequent.Session) error
}

// A Config says what the dialect works with.
type Config struct {
	Engine  *sequent.Engine // required
	Archive Archive         // nil means that sessions are not saved
	Drawing io.Writer       // where thoughts are drawn for people; nil means nowhere
	Colour  bool            // Drawing is a terminal that shows colours
	Width   func() int      // columns of Drawing; nil or 0 means that they are not known
	Logger  *slog.Logger    // failures to save, never a thought; nil means discard
}

// New returns the dialect. It panics if there is no engine.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("classic: Config needs an Engine")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &classic{Config: cfg, scopes: scope.New(cfg.Engine, name)}
	if cfg.Drawing != nil {
		c.drawing = &drawing{out: cfg.Drawing, colour: cfg.Colour, width: cfg.Width}
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "The reference server's contract, with a session file on completion.",
		Tools:   []tool.Tool{tool.New(tool.Parse(specJSON, specText), c.think, reject)},
		Resources: []dialect.Resource{{
			URI: "sequentialthinking://documentation", Name: "documentation", Title: "Documentation",
			Description: "How the sequentialthinking tool works.", MIME: "text/markdown",
			Read: func(context.Context, tool.Caller) (string, error) { return documentation, nil },
		}},
	}
}

// A classic is what the calls of one dialect share.
type classic struct {
	Config
	scopes  *scope.Finder
	minted  minted
	drawing *drawing // nil for none
}

// A reply has the members of the contract in their order.
type reply struct {
	Number   int        `json:"thoughtNumber"`
	Total    int        `json:"totalThoughts"`
	Next     bool       `json:"nextThoughtNeeded"`
	Branches []string   `json:"branches"`
	Length   int        `json:"thoughtHistoryLength"`
	Session  sequent.ID `json:"sessionId"`
	Saved    *bool      `json:"sessionSaved,omitempty"` // with a final thought
}

// think answers a call.
func (c *classic) think(ctx context.Context, call tool.Call, in args) (tool.Reply, error) {
	if err := in.check(c.Engine.Limits()); err != nil {
		return refuse(err)
	}
	turn, err := c.scopes.Enter(call.Caller)
	if err != nil {
		return refuse(err)
	}
	// Until the end, so that drawings and files come in the order of the log.
	defer turn.Leave()
	in.Total = max(in.Total, in.Number)
	s, err := c.record(ctx, call.Caller, turn, in)
	if err != nil {
		return refuse(err)
	}
	if c.drawing != nil {
		c.drawing.thought(in)
	}
	r := reply{
		Number: in.Number, Total: in.Total, Next: in.Next,
		Branches: enumerated(s.Branches()), Length: s.Len(), Session: s.ID(),
	}
	if !in.Next {
		r.Saved = new(c.save(ctx, call.Caller, s))
	}
	return tool.JSONReply(r), nil
}

// errFinished ends a change to a session that the thought does not belong to.
var errFinished = errors.New("classic: the thought begins the next session")

// record appends a thought to the scope's session, or to the next one.
func (c *classic) record(ctx context.Context, caller tool.Caller, turn *scope.Turn, in args) (*sequent.Session, error) {
	draft := in.draft()
	e := c.Engine.Owned(caller.Owner)
	id, err := turn.Current(ctx)
	if err != nil {
		return nil, err
	}
	if id != "" {
		limit := e.Limits().Thoughts
		s, err := e.Update(ctx, id, func(c *sequent.Change) error {
			s := c.Session()
			full := limit > 0 && s.Len() >= limit
			if in.plain() && in.Number == 1 && (s.State() != sequent.Active || full) {
				return errFinished
			}
			_, err := c.Append(draft)
			return err
		})
		// One that was deleted or has expired is followed like a completed one.
		if err != errFinished && !errors.Is(err, sequent.ErrNotFound) {
			return s, err
		}
	}
	return c.begin(ctx, caller.Owner, turn, draft)
}

// save writes the file of a session that was just completed, and reports whether
// it is there.
//
// Others may complete the session as well, in a scope that processes share, and
// the slower may write last. So each looks after writing whether there is a
// later completion: whoever writes last writes the latest.
func (c *classic) save(ctx context.Context, caller tool.Caller, s *sequent.Session) bool {
	if c.Archive == nil {
		return false
	}
	ctx = context.WithoutCancel(ctx) // the thought is recorded; the file belongs to it
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
		return nil, false // gone; nobody completes it any more
	}
	at := 0
	for t := range now.Since(s.Len()) {
		if !t.More {
			at = t.Seq
		}
	}
	return now.Upto(at), at > 0
}
