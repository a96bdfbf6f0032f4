// Package journal is a dialect with one tool, which appends an entry to the caller's
// journal. It is the example of docs/write-a-dialect.md.
package journal

import (
	"context"
	_ "embed" // of the contract

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// Name is the name of the dialect.
const Name = "journal"

var (
	//go:embed tool.json
	spec []byte
	//go:embed tool.md
	description []byte
)

// table has the words that differ from those of other dialects.
var table = dialect.Table{
	Fields:      map[string]string{"text": "entry", "thought": ""},
	SessionFull: "begin another journal with first true",
}

// A journal answers the calls of the tool.
type journal struct {
	scopes *dialect.Scopes
	newID  func() (sequent.ID, error)
}

// New returns the dialect.
func New(env dialect.Env) (dialect.Dialect, error) {
	j := &journal{scopes: dialect.NewScopes(env.Engine, Name), newID: dialect.ShortIDs(env.Rand)}
	return dialect.Dialect{
		Name:    Name,
		Summary: "a journal of findings and decisions",
		Tools:   []tool.Tool{tool.New(tool.Parse(spec, description), j.write, dialect.Reject)},
	}, nil
}

// args are the arguments of a call, as tool.json declares them.
type args struct {
	Entry string `json:"entry"`
	First bool   `json:"first,omitzero"`
}

// A reply has the members of the output schema.
type reply struct {
	Journal sequent.ID `json:"journal"`
	Entries int        `json:"entries"`
}

// write answers a call. The entry is committed when it replies.
func (j *journal) write(ctx context.Context, c tool.Call, in args) (tool.Reply, error) {
	s, err := j.record(ctx, c.Caller, in)
	if err != nil {
		return table.Reply(err)
	}
	return tool.JSONReply(reply{s.ID(), s.Len()}), nil
}

// record appends the entry to the journal of the caller's scope, or begins one.
func (j *journal) record(ctx context.Context, caller tool.Caller, in args) (*sequent.Session, error) {
	turn, err := j.scopes.Enter(ctx, caller)
	if err != nil {
		return nil, err
	}
	defer turn.Leave()
	turn.Begins = in.First
	return turn.Record(ctx, j.newID, in.appendTo)
}

// appendTo appends the entry to the session that c changes.
func (in args) appendTo(c *sequent.Change) error {
	_, err := c.Append(sequent.Draft{Number: c.Session().NextNumber(""), Text: in.Entry})
	return err
}
