package wiki

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/workflow"
)

// The codes of this contract.
const (
	codeWikiLink           = "WIKILINK_REQUIRED"
	codeInvalidID          = "INVALID_SESSION_ID"
	codeMissing            = "SESSION_MISSING"
	codeExists             = "SESSION_EXISTS"
	codeClosed             = "SESSION_CLOSED"
	codeBranchID           = "BRANCH_ID_REQUIRED"
	codeInvalidParent      = "INVALID_PARENT_WORKFLOW"
	codeParentNotFound     = "PARENT_WORKFLOW_NOT_FOUND"
	codeParentClosed       = "PARENT_WORKFLOW_CLOSED"
	codeConclusion         = "CONCLUSION_REQUIRED"
	codeConclusionWikiLink = "CONCLUSION_WIKILINK_REQUIRED"
	codeInvalidAnalysis    = "INVALID_ANALYSIS_TYPE"
	codeInvalidArgument    = "INVALID_ARGUMENT" // an argument is missing or of another type
)

// table has the words of this contract that differ from the shared ones.
var table = dialect.Table{
	Codes: map[sequent.Code]dialect.Words{
		sequent.CodeSessionNotFound: {Fix: "leave sessionId out and begin with thoughtNumber 0, or pass the sessionId of an earlier reply"},

		// Codes of the vault for which this contract has its own.
		workflow.CodeLinkRequired:       {Code: codeWikiLink},
		workflow.CodeConclusionRequired: {Code: codeConclusion},
		workflow.CodeConclusionLink:     {Code: codeConclusionWikiLink},
		workflow.CodeInvalid:            {Code: codeInvalidArgument},
		edit.CodeInvalid:                {Code: codeInvalidArgument},
		edit.CodeLinkRequired:           {Code: codeWikiLink},
		edit.CodeChecksumRequired:       {Code: "CHECKSUM_REQUIRED"},
	},
	Fields: map[string]string{"text": "response", "note": "thoughts", "branch": "branchId"},
}

// A refusal is the reply to a call that this contract refuses.
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"` // what is wrong and what to do, in one line
}

// Error returns the refusal's code and message.
func (r *refusal) Error() string { return r.Code + ": " + r.Message }

func (r *refusal) reply() tool.Reply {
	line := refusal{r.Code, strings.Join(strings.Fields(r.Message), " ")}
	reply := tool.JSONReply(struct {
		Error refusal `json:"error"`
	}{line})
	reply.Text = "ERROR: " + line.Error()
	reply.Failed, reply.Code = true, line.Code
	return reply
}

// Refusals without details of the call.
var (
	errInvalidID = refusal{codeInvalidID, "sessionId must be session-{unix milliseconds}, optionally followed by - and letters, digits, - or _; " +
		"pass the one of an earlier reply, or leave sessionId out to begin a session"}
	errSessionMissing  = refusal{codeMissing, "there is no session to continue; pass the sessionId of an earlier reply, or begin a session with thoughtNumber 0 and without isRevision, branchId and cancel"}
	errBranchID        = refusal{codeBranchID, "branchFromThought needs a branchId, which keeps the agents of a session apart; add a name for the branch and repeat the call"}
	errInvalidParent   = refusal{codeInvalidParent, "parentWorkflowId belongs to the first thought of a session; leave it out, or begin a new session with it and thoughtNumber 0"}
	errConclusion      = refusal{codeConclusion, "nextThoughtNeeded is false, so give a conclusion: " + wanted + "; or set nextThoughtNeeded to true"}
	errConclusionLinks = refusal{codeConclusionWikiLink, "conclusion has no [[WikiLink]]; put its concepts in double brackets and repeat the call"}
)

// wanted describes a conclusion for a model.
const wanted = "what you found, which instructions you followed and which not, shortcuts taken, risks, and sources, with [[WikiLinks]]"

// reject refuses arguments that do not fit a schema.
func reject(err *tool.ArgumentError) (tool.Reply, error) {
	r := refusal{codeInvalidArgument, err.Error() + "; " + err.Fix()}
	if err.Field == "analysisType" {
		r.Code = codeInvalidAnalysis
		r.Message += ", or leave it out"
	}
	return r.reply(), nil
}

// refuse returns the refusal for an error, and names the arguments that the contract does
// not have. It returns a fault unchanged.
func refuse(err error, unknown ...string) (tool.Reply, error) {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		said, ok := table.Refusal(err)
		if !ok {
			return tool.Reply{}, err
		}
		r = &refusal{said.Code, said.Text()}
	}
	if len(unknown) > 0 {
		r = &refusal{r.Code, fmt.Sprintf("%s (unknown fields: %s)", r.Message, strings.Join(unknown, ", "))}
	}
	return r.reply(), nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
