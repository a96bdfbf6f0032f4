package history

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// nativeReplyLimit is the maximum size of a reply of the native tools, in bytes. Their
// callers expect whole histories.
const nativeReplyLimit = 16 << 20

// Native returns the tools with which a library in another language offers what [Tool]
// offers in Go: record a thought, read a session, list sessions, clear them. They are for
// programs. A model gets the tool that the library makes of them.
//
// Calls are idempotent: the caller chooses the id of a new session and a key for each
// call. Sessions are those of the dialect history, and SessionID of cfg is ignored. Native
// panics if there is no engine.
func Native(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("history: Config needs an Engine")
	}
	n := &native{engine: cfg.Engine, recorder: newRecorder(cfg, nativeReplyLimit)}
	return dialect.Dialect{
		Name:    "native",
		Summary: "the tools of history for libraries in other languages",
		Tools: []tool.Tool{
			tool.New(tool.ParseFS(contract, "native/think"), n.think, dialect.Reject).AsHeavy(),
			tool.New(tool.ParseFS(contract, "native/get_session"), n.get, dialect.Reject).AsHeavy(),
			tool.New(tool.ParseFS(contract, "native/list_sessions"), n.list, dialect.Reject),
			tool.New(tool.ParseFS(contract, "native/clear_session"), n.clear, dialect.Reject),
			tool.New(tool.ParseFS(contract, "native/clear_sessions"), n.clearAll, dialect.Reject),
		},
	}
}

// structured is the text of replies for a program, instead of the same JSON.
const structured = "The reply is the structured content."

func nativeReply(v any) tool.Reply {
	r := tool.JSONReply(v)
	r.Text = structured
	return r
}

type native struct {
	engine   *sequent.Engine
	recorder *recorder
}

// nativeInput has the arguments of think.
type nativeInput struct {
	Input
	Given   []string   `json:"given"`
	NewID   sequent.ID `json:"newId"`
	Key     string     `json:"requestKey"`
	Process string     `json:"process"`
}

// processScope returns the scope of the sessions that a process began.
func processScope(process string) string { return "native/" + process }

func (n *native) think(ctx context.Context, c tool.Call, in nativeInput) (tool.Reply, error) {
	if err := in.check(); err != nil {
		return table.Reply(err)
	}
	e := n.engine.Owned(c.Caller.Owner)
	sum := sha256.Sum256(c.Args)
	d := in.draft()
	d.Request = sequent.Request{Key: in.Key, Digest: hex.EncodeToString(sum[:16])}
	for name, value := range map[string]string{"branchId": `""`, "needsMoreThoughts": "false"} {
		if slices.Contains(in.Given, name) {
			if d.Labels == nil {
				d.Labels = make(map[string]string)
			}
			d.Labels[labelGiven+name] = value
		}
	}
	record := n.recorder.change(ctx, e.Now(), processScope(in.Process), d)
	seq := 0 // position of the thought
	s, err := n.record(ctx, e, in, func(c *sequent.Change) error {
		t, repeated := c.Session().Recorded(in.Key)
		switch {
		case repeated && t.Request.Digest != d.Request.Digest:
			return sequent.Errorf(sequent.CodeRequestKeyReused, "requestKey", "use a new key for each call",
				"thought %d was recorded with that requestKey and other arguments", t.Number)
		case repeated:
			seq = t.Seq
			return nil
		}
		seq = c.Session().Len() + 1
		return record(c)
	})
	if err != nil {
		return table.Reply(err)
	}
	reply := in.output(s.Upto(seq), n.recorder.Window).reply(n.recorder.ReplyLimit)
	reply.Text, reply.Beside = structured, brief.Beside(s)
	return reply, nil
}

// record applies change to the session of the call. A repeated call finds the session that
// the first one has begun, and the change finds its thought.
func (n *native) record(ctx context.Context, e *sequent.Engine, in nativeInput, change func(*sequent.Change) error) (*sequent.Session, error) {
	var pinned sequent.ID
	if in.NewID == in.SessionID {
		pinned = in.NewID
	}
	if pinned != "" && in.ClearSession {
		s, err := e.Session(ctx, pinned)
		if err != nil && !gone(err) {
			return nil, err
		}
		if err == nil {
			_, repeated := s.Recorded(in.Key)
			in.ClearSession = !repeated
		}
	}
	return in.Input.record(ctx, e, pinned, change, func() (*sequent.Session, error) {
		return e.Ensure(ctx, in.NewID, change)
	})
}

type nativeSession struct {
	SessionID sequent.ID `json:"sessionId"`
}

// A nativeThought is a thought with the arguments as the call gave them.
type nativeThought struct {
	ThoughtNumber     int     `json:"thoughtNumber"`
	Thought           string  `json:"thought"`
	TotalThoughts     int     `json:"totalThoughts"`
	NextThoughtNeeded bool    `json:"nextThoughtNeeded"`
	IsRevision        *bool   `json:"isRevision,omitempty"`
	RevisesThought    int     `json:"revisesThought,omitempty"`
	BranchFromThought int     `json:"branchFromThought,omitempty"`
	BranchID          *string `json:"branchId,omitempty"`
	NeedsMoreThoughts *bool   `json:"needsMoreThoughts,omitempty"`
	Timestamp         int64   `json:"timestamp"` // milliseconds since 1970
}

type nativeRecord struct {
	ID        sequent.ID      `json:"id"`
	CreatedAt int64           `json:"createdAt"` // milliseconds since 1970
	Thoughts  []nativeThought `json:"thoughts"`
	Branches  []string        `json:"branches"`
}

func (n *native) get(ctx context.Context, c tool.Call, in nativeSession) (tool.Reply, error) {
	var reply struct {
		Session *nativeRecord `json:"session,omitempty"`
	}
	s, err := n.engine.Owned(c.Caller.Owner).Session(ctx, in.SessionID)
	switch {
	case gone(err) || err == nil && !isOurs(s.Header()):
		return nativeReply(reply), nil
	case err != nil:
		return table.Reply(err)
	}
	reply.Session = &nativeRecord{ID: s.ID(), CreatedAt: s.Created().UnixMilli(), Thoughts: []nativeThought{}, Branches: s.Branches()}
	for t := range s.All() {
		reply.Session.Thoughts = append(reply.Session.Thoughts, nativeThoughtOf(t))
	}
	return nativeReply(reply), nil
}

func nativeThoughtOf(t sequent.Thought) nativeThought {
	revises, _ := t.Revises.Number()
	from, _ := t.From.Number()
	n := nativeThought{
		ThoughtNumber: t.Number, Thought: t.Text, TotalThoughts: t.Total, NextThoughtNeeded: !t.Final,
		IsRevision: isRevision(t), RevisesThought: revises, BranchFromThought: from, Timestamp: t.At.UnixMilli(),
	}
	if t.Branch != "" || t.Labels[labelGiven+"branchId"] != "" {
		n.BranchID = new(t.Branch)
	}
	if t.Extend || t.Labels[labelGiven+"needsMoreThoughts"] != "" {
		n.NeedsMoreThoughts = new(t.Extend)
	}
	return n
}

type nativeList struct {
	Process string `json:"process"`
	Cursor  string `json:"cursor,omitzero"`
}

func (n *native) list(ctx context.Context, c tool.Call, in nativeList) (tool.Reply, error) {
	page, err := n.engine.Owned(c.Caller.Owner).Sessions(ctx, sequent.Query{
		Scope: processScope(in.Process), ByCreated: true, Limit: 1000, Cursor: in.Cursor,
	})
	if err != nil {
		return table.Reply(err)
	}
	reply := struct {
		IDs  []sequent.ID `json:"ids"`
		Next string       `json:"next,omitempty"`
	}{IDs: []sequent.ID{}, Next: page.Next}
	for _, h := range page.Headers {
		reply.IDs = append(reply.IDs, h.ID)
	}
	return nativeReply(reply), nil
}

// cleared is the reply to calls that delete sessions.
type cleared struct {
	Cleared int `json:"cleared"` // number of sessions
}

func (n *native) clear(ctx context.Context, c tool.Call, in nativeSession) (tool.Reply, error) {
	err := remove(ctx, n.engine.Owned(c.Caller.Owner), in.SessionID)
	switch {
	case gone(err):
		return nativeReply(cleared{}), nil
	case err != nil:
		return table.Reply(err)
	}
	return nativeReply(cleared{Cleared: 1}), nil
}

type nativeProcess struct {
	Process string `json:"process"`
}

func (n *native) clearAll(ctx context.Context, c tool.Call, in nativeProcess) (tool.Reply, error) {
	e := n.engine.Owned(c.Caller.Owner)
	var reply cleared
	for h, err := range e.AllSessions(ctx, sequent.Query{Scope: processScope(in.Process), ByCreated: true}) {
		if err == nil {
			err = e.Delete(ctx, h.ID)
		}
		switch {
		case err == nil:
			reply.Cleared++
		case !gone(err):
			return table.Reply(err)
		}
	}
	return nativeReply(reply), nil
}
