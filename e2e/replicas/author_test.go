//go:build unix

package replicas

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// A reply is the reply to a thought.
type reply struct {
	SessionID     string // if the call named none
	ThoughtNumber int
	TotalThoughts int    // if it is not what the call said
	BranchID      string // if the server chose it
}

// A recorded is a thought as its author sent it and the reply confirmed it.
type recorded struct {
	Seq, Number, Total int
	Text, Branch       string
	From, Revises      *int
	Revision, Final    bool
	Request            struct{ Key string }

	line           string // the branch that it continues, if known
	sent, answered string // JSON
	at             time.Time
}

// arguments are the arguments of a thought.
type arguments struct {
	Thought    string `json:"thought"`
	Number     int    `json:"thoughtNumber,omitempty"`
	Total      int    `json:"totalThoughts"`
	More       bool   `json:"nextThoughtNeeded"`
	RequestKey string `json:"requestKey"`
	SessionID  string `json:"sessionId,omitempty"`
	Revises    *int   `json:"revisesThought,omitempty"`
	Revision   bool   `json:"isRevision,omitempty"`
	From       *int   `json:"branchFromThought,omitempty"`
	Branch     string `json:"branchId,omitempty"`
}

// A notebook holds what the replies of a session have confirmed.
type notebook struct {
	id     string
	shared bool // two authors write

	mu       sync.Mutex
	thoughts map[string]*recorded // by request key
}

func (n *notebook) add(t *recorded) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if old := n.thoughts[t.Request.Key]; old != nil {
		return fmt.Errorf("session %s: both %s and %s are confirmed", n.id, old.sent, t.sent)
	}
	n.thoughts[t.Request.Key] = t
	return nil
}

// An author records thoughts in a session, which can have a second author.
type author struct {
	*client
	notebook *notebook
	name     string
	lines    []line
	past     []*recorded
}

// A line is the main line or a branch.
type line struct {
	branch  string
	opens   *int // the number at which the branch begins, until it exists
	numbers []int
}

// fill records thoughts until there are count; the last one completes the session.
func (a *author) fill(ctx context.Context, count int) error {
	for len(a.past) < count {
		if err := a.think(ctx, len(a.past) == count-1); err != nil {
			return err
		}
	}
	return nil
}

// think records a random thought: plain, a revision or a branch.
func (a *author) think(ctx context.Context, last bool) error {
	n := len(a.past) + 1
	t := &recorded{
		Text:  fmt.Sprintf("%s has idea %d: %s", a.name, n, idea(a.rng)),
		Final: last,
	}
	t.Request.Key = fmt.Sprintf("%s-%d", a.name, n)
	at := &a.lines[a.rng.IntN(len(a.lines))]
	t.line = at.branch
	args := arguments{Thought: t.Text, Total: thoughts + a.rng.IntN(20), More: !t.Final, RequestKey: t.Request.Key}
	if a.notebook.shared || a.rng.IntN(5) > 0 { // otherwise the scope selects the session
		args.SessionID = a.notebook.id
	}
	fresh := false
	switch kind := a.rng.IntN(10); {
	case at.opens != nil:
		t.From, at.opens = at.opens, nil
		args.From = t.From
	case len(at.numbers) > 0 && kind < 2:
		t.Revises, t.Revision = pick(a.rng, at.numbers), true
		args.Revises, args.Revision = t.Revises, true
	case at.branch == "" && len(at.numbers) > 0 && kind < 3 && len(a.lines) < 4:
		t.From, fresh = pick(a.rng, at.numbers), true
		args.From = t.From
		if a.rng.IntN(2) == 0 { // otherwise the server chooses a name
			t.line = fmt.Sprintf("%s-%d", a.name, n)
			args.Branch = t.line
		}
	}
	if !fresh && at.branch != "" {
		args.Branch = at.branch
	}
	if args.SessionID == "" && len(at.numbers) > 0 && args.Revises == nil && args.From == nil && args.Branch == "" {
		args.Number = slices.Max(at.numbers) + 1 // without a number the thought would begin a session
	}
	t.sent = inJSON(args)
	r, err := a.send(ctx, t)
	if err != nil {
		return err
	}
	if a.notebook.id == "" {
		a.notebook.id = r.SessionID
	}
	t.at = time.Now()
	t.Number, t.Total, t.Branch = r.ThoughtNumber, cmp.Or(r.TotalThoughts, args.Total), cmp.Or(args.Branch, r.BranchID)
	if cmp.Or(args.SessionID, r.SessionID) != a.notebook.id || t.Total != max(args.Total, t.Number) ||
		t.line != "" && t.Branch != t.line || fresh && t.Branch == "" {
		return fmt.Errorf("%s: got %s", t.sent, t.answered)
	}
	if fresh {
		a.lines = append(a.lines, line{branch: t.Branch})
		at = &a.lines[len(a.lines)-1]
	}
	at.numbers = append(at.numbers, t.Number)
	a.past = append(a.past, t)
	return a.notebook.add(t)
}

// send makes a call. It repeats some calls at once, and makes some concurrently
// with a second client, like a load balancer that retries after a timeout.
func (a *author) send(ctx context.Context, t *recorded) (r reply, err error) {
	const tool = "sequentialthinking"
	both := a.notebook.id != "" && a.rng.IntN(100) < 2
	second := make(chan error, 1)
	var other string
	if both {
		twin := a.twin()
		go func() {
			var err error
			other, err = twin.call(ctx, tool, t.sent)
			second <- err
		}()
	}
	t.answered, err = a.call(ctx, tool, t.sent)
	if both {
		if failed := <-second; err == nil {
			err = failed
		}
		if err == nil && other != t.answered {
			err = fmt.Errorf("%s, made twice concurrently: got %s and %s", t.sent, t.answered, other)
		}
	}
	if err != nil {
		return reply{}, err
	}
	if a.rng.IntN(100) < 3 {
		if err := a.repeat(ctx, t); err != nil {
			return reply{}, err
		}
	}
	if len(a.past) > 0 && a.rng.IntN(100) < 2 {
		if err := a.repeat(ctx, a.past[a.rng.IntN(len(a.past))]); err != nil {
			return reply{}, err
		}
	}
	return r, json.Unmarshal([]byte(t.answered), &r)
}

// repeat makes a call again, to any replica, and expects the same answer.
func (a *author) repeat(ctx context.Context, t *recorded) error {
	again, err := a.call(ctx, "sequentialthinking", t.sent)
	if err == nil && again != t.answered {
		err = fmt.Errorf("%s, repeated: got %s, want %s", t.sent, again, t.answered)
	}
	return err
}

func pick(rng *rand.Rand, numbers []int) *int {
	n := numbers[rng.IntN(len(numbers))]
	return &n
}

// idea returns random words, so that no thought is similar to an earlier one.
func idea(rng *rand.Rand) string {
	words := make([]string, 8+rng.IntN(20))
	for i := range words {
		words[i] = fmt.Sprintf("%x", rng.Uint32())
	}
	return strings.Join(words, " ")
}
