// Package panel has a language model look at a problem from several perspectives at
// once, each on a branch of one session, and then join what they found. The synthesis
// cites thoughts of the branches, and the citations are checked.
//
// Every answer is stored before the next request. After a crash, [Panel.Run] resumes in
// another process and asks for no stored answer again. A perspective that fails is named
// in the result, and the others go on.
package panel

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/agent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// A Perspective is a way to look at a problem.
type Perspective struct {
	Name         string        // also of the branch
	Instructions string        // what the model shall look for
	Tools        []tool.Tool   // tools that it may call
	Timeout      time.Duration // of its whole work; 0 means Config.Timeout
}

// Perspectives returns the default perspectives.
func Perspectives() []Perspective {
	return []Perspective{
		{Name: "factual", Instructions: "State what is known, how well it is known, and what would have to be found out. Separate facts from guesses."},
		{Name: "critical", Instructions: "Look for what is wrong: hidden assumptions, ways to fail, costs that nobody counts. Say how each could be tested."},
		{Name: "optimistic", Instructions: "Look for what could go well: the strongest version of each idea, and what would have to be true for it to work."},
		{Name: "creative", Instructions: "Look for other ways: reframe the problem, borrow from other fields, combine what seems apart."},
	}
}

// A Config configures a [Panel].
type Config struct {
	Engine       *sequent.Engine // required
	Model        llm.Model       // required for Begin and Run
	Perspectives []Perspective   // nil means the default ones
	Steps        int             // maximum answers of each perspective; 0 means 4
	Timeout      time.Duration   // of the work of a perspective; 0 means 5 minutes
	// TokenBudget and CallBudget limit the panel, in tokens as the provider counts them
	// and in answers of the model. 0 means no limit. A fifth of the tokens and two calls
	// are kept for the synthesis. Perspectives that run at the same time can exceed the
	// tokens by an answer each.
	TokenBudget int
	CallBudget  int
	Temperature *float64 // see llm.Request
}

const (
	defaultSteps   = 4
	defaultTimeout = 5 * time.Minute
	synthesisCalls = 2 // a second one if the first cannot be used
)

// A Panel runs panels. It is safe for concurrent use.
type Panel struct{ cfg Config }

// New returns a panel. It returns an error with the code [CodeInvalid] if the perspectives
// or the budgets cannot be used, and panics if there is no engine.
func New(cfg Config) (*Panel, error) {
	if cfg.Engine == nil {
		panic("panel: Config needs an Engine")
	}
	if cfg.Perspectives == nil {
		cfg.Perspectives = Perspectives()
	}
	if cfg.Steps == 0 {
		cfg.Steps = defaultSteps
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	const most = 16
	if n := len(cfg.Perspectives); n < 2 || n > most {
		return nil, &Error{CodeInvalid, fmt.Sprintf("a panel has %d perspectives", n), fmt.Sprintf("use 2 to %d", most)}
	}
	seen := map[string]bool{sequent.MainLine: true}
	for _, p := range cfg.Perspectives {
		switch {
		case p.Name == "" || strings.ContainsAny(p.Name, "#@[], ") || seen[p.Name]:
			return nil, &Error{CodeInvalid, fmt.Sprintf("a perspective cannot be called %q", p.Name), "use a word of its own for each, other than main"}
		case p.Instructions == "":
			return nil, &Error{CodeInvalid, fmt.Sprintf("the perspective %q has no instructions", p.Name), "say what it shall look for"}
		}
		seen[p.Name] = true
	}
	if least := len(cfg.Perspectives) + synthesisCalls; cfg.CallBudget != 0 && cfg.CallBudget < least {
		return nil, &Error{CodeInvalid, fmt.Sprintf("%d calls are too few", cfg.CallBudget), fmt.Sprintf("allow at least %d, one for each perspective and %d for the synthesis", least, synthesisCalls)}
	}
	return &Panel{cfg}, nil
}

// An Estimate is what a panel may cost, before it begins.
type Estimate struct {
	Calls  [2]int `json:"calls"`  // answers of the model, at least and at most
	Tokens [2]int `json:"tokens"` // sent and received, roughly
}

// Estimate returns what a panel about a problem may cost. Tokens are estimated by the
// length of texts and a typical answer; budgets limit both.
func (p *Panel) Estimate(problem string) Estimate {
	const answer, thoughts, join = 400, 300, 700 // tokens: of an answer, of a round of calls, of the synthesis
	n, steps := len(p.cfg.Perspectives), p.cfg.Steps
	prompt := sequent.Tokens(system + problem)
	for _, v := range p.cfg.Perspectives {
		for _, t := range v.Tools {
			prompt += sequent.Tokens(t.Description+string(t.InputSchema)) / n
		}
	}
	least := n*(prompt+answer) + prompt + n*answer + join
	most := prompt + n*(answer+steps*thoughts) + join
	for k := range steps {
		most += n * (prompt + k*thoughts + answer)
	}
	e := Estimate{Calls: [2]int{n + 1, n*steps + synthesisCalls}, Tokens: [2]int{least, most}}
	if b := p.cfg.CallBudget; b > 0 {
		e.Calls[1] = min(e.Calls[1], b)
	}
	if b := p.cfg.TokenBudget; b > 0 {
		e.Tokens[1] = max(min(e.Tokens[1], b), e.Tokens[0])
	}
	return e
}

// MaxProblem is the maximum size of a problem in bytes: it is a thought.
const MaxProblem = 32 << 10

// Begin creates a session for a problem. The caller chooses its ID, which must not exist.
func (p *Panel) Begin(ctx context.Context, id sequent.ID, problem string) error {
	problem = strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(problem, "\uFFFD"), "\x00", ""))
	if problem == "" || len(problem) > MaxProblem {
		return &Error{CodeInvalid, fmt.Sprintf("the problem has %d bytes", len(problem)), fmt.Sprintf("describe it in 1 to %d bytes", MaxProblem)}
	}
	_, err := p.cfg.Engine.Begin(ctx, id, func(c *sequent.Change) error {
		c.BeginIn("", dialectName)
		if _, err := c.Append(sequent.Draft{Number: 1, Total: 2, Text: problem, More: true}); err != nil {
			return err
		}
		st := State{Problem: problem, Model: p.cfg.Model.Name()}
		for _, v := range p.cfg.Perspectives {
			st.Views = append(st.Views, View{Name: v.Name, Instructions: v.Instructions})
		}
		return st.put(c)
	})
	return err
}

// dialectName is the dialect of sessions of panels, as of others of sequent think.
const dialectName = "think"

// An Event tells what happened. It is stored before it is yielded.
type Event struct {
	Perspective string          // empty for the synthesis
	Thought     sequent.Thought // recorded; Seq is 0 for none
	Calling     *agent.Calling  // a tool of the perspective begins
	Retry       *llm.Retry
	Ended       *View      // the perspective ended
	Done        *Synthesis // the panel ended; the last event
	Usage       llm.Usage  // of the panel so far
}

// A Code classifies an [Error]. Codes are stable and only ever added.
type Code string

// The codes of this package.
const (
	CodeInvalid  Code = "panel_invalid"   // the configuration or the problem cannot be used
	CodeNoPanel  Code = "panel_not_found" // the session has no panel, or one of other perspectives
	CodeTaken    Code = "panel_taken"     // another process runs the panel
	CodeFailed   Code = "panel_failed"    // every perspective failed
	CodeNoAnswer Code = "panel_no_answer" // the model gave no synthesis that can be used
)

// An Error is an error of a panel.
type Error struct {
	Code Code
	Msg  string // what is wrong, in one sentence
	Fix  string // what to do next
}

// Error returns the message and what to do next.
func (e *Error) Error() string { return e.Msg + ": " + e.Fix }

func taken(id sequent.ID) error {
	return &Error{CodeTaken, fmt.Sprintf("another process is working on session %s", id), "watch the session, or resume it when the other process has ended"}
}

// ours reports whether an error ends the whole panel: the caller gave up, the store
// failed, or another process runs the panel.
func ours(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code == CodeTaken
	}
	_, ok := errors.AsType[*sequent.Error](err)
	return ok
}
