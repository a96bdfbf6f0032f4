package standard

import (
	"context"
	"errors"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// Codes of rules that only this contract has.
const (
	codeInvalidArgument = "INVALID_ARGUMENT"    // an argument is missing or of another type
	codeThoughtNotFound = "THOUGHT_NOT_FOUND"   // a reference to a thought that is not on the path
	codeBranchNotFound  = "BRANCH_NOT_FOUND"    // recall of a branch that the session does not have
	codeInvalidCursor   = "INVALID_CURSOR"      // a cursor that was not given for this call
	codeSessionRequired = "SESSION_ID_REQUIRED" // the session to continue is unknown
)

// table has the words that differ from the shared ones.
var table = dialect.Table{
	Codes: map[sequent.Code]dialect.Words{
		sequent.CodeSessionNotFound:  {Fix: "omit sessionId to begin a session, or call recall_thinking to list those that exist"},
		sequent.CodeRequestKeyReused: {Fix: "use a new requestKey for a new thought, or repeat the first call unchanged"},
	},
	Fields:    map[string]string{"text": "thought", "branch": "branchId"},
	Uncertain: "call recall_thinking to see whether the thought was recorded; a call that had a requestKey can be repeated unchanged",
}

// A refusal is a [tool.Refusal] that a change function returns as an error.
type refusal tool.Refusal

// Error returns the refusal's code and message.
func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// refuse returns the refusal of an error, or the error itself if it is internal. Asked is the
// session that the call names.
func (d *server) refuse(ctx context.Context, c tool.Caller, asked string, err error) (tool.Reply, error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		return tool.Refusal(*r).Reply(), nil
	}
	said, ok := table.Refusal(err)
	if !ok {
		return tool.Reply{}, err
	}
	switch {
	case said.Field == "cursor":
		said.Code = codeInvalidCursor
	case said.Cause.Code == sequent.CodeSessionNotFound:
		if meant := d.meant(ctx, c, asked); len(meant) > 0 {
			said.Fix = "pass the id of the session that you mean (" + strings.Join(meant, ", ") + "?), or " + said.Fix
		}
	}
	return said.Reply(), nil
}

// meant returns the ids of sessions of the caller's project that an unknown one may stand for:
// those with the same beginning.
func (d *server) meant(ctx context.Context, c tool.Caller, id string) []string {
	const beginning, most = 4, 3
	id = strings.TrimSpace(id)
	if len(id) < beginning {
		return nil
	}
	ids, err := d.idsWith(ctx, c.Owner, c.Scope.Project, id[:beginning], most)
	if err != nil {
		return nil // the refusal is worth more than the hint
	}
	return ids
}
