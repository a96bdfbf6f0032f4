package guided

import "github.com/sequent-dev/sequent/tool"

// A reason is the reason to continue or to stop. Reasons are never removed.
type reason string

const (
	nextRequired    reason = "next_thought_required"
	needsMore       reason = "needs_more_thoughts"
	complete        reason = "thought_sequence_complete"
	validationError reason = "validation_error"
	limitReached    reason = "limit_reached"     // the session is full
	rateLimited     reason = "rate_limited"      // for servers of the dialect
	tooLarge        reason = "request_too_large" // the thought is longer than the limit
	processingError reason = "processing_error"  // the thought could not be recorded
	unexpectedError reason = "unexpected_error"  // an internal error
)

// An advice is a reply, in the contract's order.
type advice struct {
	Continue bool   `json:"should_continue"`
	Next     *int   `json:"next_thought_number"`
	Reason   reason `json:"stop_reason"`
	Number   int    `json:"current_thought_number"`
	Total    int    `json:"total_thoughts"`
	Call     *args  `json:"next_call_arguments"`
	Usage    usage  `json:"parameter_usage"`
}

// usage has a reminder for each argument.
type usage struct {
	Thought  string `json:"thought"`
	Number   string `json:"thoughtNumber"`
	Total    string `json:"totalThoughts"`
	Next     string `json:"nextThoughtNeeded"`
	Revision string `json:"isRevision"`
	From     string `json:"branchFromThought"`
	Branch   string `json:"branchId"`
	More     string `json:"needsMoreThoughts"`
}

// reminders are short because they are in every reply.
var reminders = usage{
	Thought:  "one concrete step",
	Number:   "add one each step",
	Total:    "current estimate",
	Next:     "false on the last step",
	Revision: "true to correct an earlier step",
	From:     "origin of the branch, or null",
	Branch:   "set with branchFromThought, else null",
	More:     "true only to exceed totalThoughts",
}

// next returns the reply to a recorded call. Following its advice terminates: each
// recommended call has the next number, a total that is raised at most to that number,
// and asks for another thought only below the total.
func (in args) next(full bool) advice {
	a := advice{Reason: complete, Number: in.Number, Total: in.Total, Usage: reminders}
	switch {
	case in.More:
		a.Reason = needsMore
	case in.Next:
		a.Reason = nextRequired
	default:
		return a
	}
	if full || in.Number == maxNumber {
		a.Reason = limitReached
		return a
	}
	number := in.Number + 1
	total := max(in.Total, number)
	a.Continue, a.Next = true, new(number)
	a.Call = &args{
		Number: number, Total: total, Next: number < total,
		From: in.From, Branch: in.Branch,
	}
	return a
}

// again returns the reply to a refused call that can be corrected.
func again(why reason, call args) advice {
	return advice{
		Continue: true, Next: new(call.Number), Reason: why,
		Number: call.Number, Total: call.Total, Call: &call, Usage: reminders,
	}
}

// stop returns the reply to a refused call that would be refused again.
func (in args) stop(why reason) advice {
	return advice{Reason: why, Number: in.Number, Total: in.Total, Usage: reminders}
}

func (a advice) reply() tool.Reply { return tool.JSONReply(a) }

// refusal returns the advice as a failed reply. The message comes before the JSON,
// because the contract has no field for it.
func (a advice) refusal(words string) tool.Reply {
	r := a.reply()
	r.Text = string(a.Reason) + ": " + words + "\n" + r.Text
	r.Failed, r.Code = true, string(a.Reason)
	return r
}
