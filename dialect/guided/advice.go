package guided

import "encoding/json"

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
	Continue bool            `json:"should_continue"`
	Next     *int            `json:"next_thought_number"`
	Reason   reason          `json:"stop_reason"`
	Number   int             `json:"current_thought_number"`
	Total    int             `json:"total_thoughts"`
	Call     *call           `json:"next_call_arguments"`
	Usage    json.RawMessage `json:"parameter_usage"`
}

// reminders has a reminder for each argument. They are short because they are in every
// reply.
const reminders = `{"thought":"one concrete step","thoughtNumber":"add one each step","totalThoughts":"current estimate",` +
	`"nextThoughtNeeded":"false on the last step","isRevision":"true to correct an earlier step",` +
	`"branchFromThought":"origin of the branch, or null","branchId":"set with branchFromThought, else null",` +
	`"needsMoreThoughts":"true only to exceed totalThoughts"}`

// stop returns the reply to a call after which there is no other.
func (in call) stop(why reason) advice {
	return advice{Reason: why, Number: in.Number, Total: in.Total, Usage: json.RawMessage(reminders)}
}

// recommend returns the reply to a call that recommends another one.
func (in call) recommend(why reason, next call) advice {
	a := in.stop(why)
	a.Continue, a.Next, a.Call = true, &next.Number, &next
	return a
}

// next returns the reply to a recorded call. Following its advice terminates: each
// recommended call has the next number, a total that is raised at most to that number,
// and asks for another thought only below the total.
func (in call) next(full bool) advice {
	if !in.More && !in.Next {
		return in.stop(complete)
	}
	if full || in.Number == maxNumber {
		return in.stop(limitReached)
	}
	number := in.Number + 1
	total := max(in.Total, number)
	why := nextRequired
	if in.More {
		why = needsMore
	}
	return in.recommend(why, call{Number: number, Total: total, Next: number < total, From: in.From, Branch: in.Branch})
}
