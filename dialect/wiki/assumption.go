package wiki

import (
	"context"
	_ "embed" // of the contract
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/tool"
)

var (
	//go:embed assumption.json
	assumptionSpec []byte
	//go:embed assumption.md
	assumptionText []byte
)

// A Ledger keeps assumptions, a note each.
type Ledger interface {
	// Append makes the note of a new assumption.
	Append(ctx context.Context, a Assumption) (Assumption, error)

	// Update says what became of one: of Status, Validation, Confidence, Remark
	// and further Concepts those that are not empty.
	Update(ctx context.Context, a Assumption) (Assumption, error)

	// Read returns one.
	Read(ctx context.Context, uri string) (Assumption, error)

	// Latest returns those made last, newest first.
	Latest(ctx context.Context, most int) ([]Assumption, error)
}

// An Assumption is what is taken for granted.
type Assumption struct {
	URI        string // of its note
	Text       string
	Concepts   []string
	Context    string
	Validation string // how it could be tested
	Confidence string
	Status     string // active, validated, invalidated or refined
	Remark     string // what was learned; of an update alone
	Note       string // all of the note, for people
}

// assumptionArgs are the arguments of assumption_ledger.
type assumptionArgs struct {
	Action     string   `json:"action"`
	Assumption string   `json:"assumption,omitzero"`
	Concepts   []string `json:"concepts"`
	Context    string   `json:"context,omitzero"`
	Validation string   `json:"validationPlan,omitzero" alias:"validation_plan"`
	Confidence string   `json:"confidence,omitzero"`
	URI        string   `json:"uri,omitzero"`
	Status     string   `json:"status,omitzero"`
	Notes      string   `json:"notes,omitzero"`
}

// ledger answers assumption_ledger.
func (d *server) ledger(ctx context.Context, c tool.Call, in assumptionArgs) (tool.Reply, error) {
	if err := in.check(); err != nil {
		return refuse(err)
	}
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	a := Assumption{
		URI: in.URI, Text: in.Assumption, Concepts: in.Concepts, Context: in.Context,
		Validation: in.Validation, Confidence: in.Confidence, Status: in.Status, Remark: in.Notes,
	}
	var list []Assumption
	var text string
	switch {
	case in.Action == "append":
		a, err = v.Ledger.Append(ctx, a)
		list, text = []Assumption{a}, "Recorded assumption: "+a.URI+"\n\n💡 Update it to validated, invalidated or refined as soon as you know"
	case in.Action == "update":
		a, err = v.Ledger.Update(ctx, a)
		list, text = []Assumption{a}, fmt.Sprintf("Updated assumption: %s\n\nIt is %s now", a.URI, a.Status)
	case in.URI != "":
		a, err = v.Ledger.Read(ctx, in.URI)
		list, text = []Assumption{a}, a.Note
	default:
		const most = 20
		list, err = v.Ledger.Latest(ctx, most)
		text = lines(list)
	}
	if err != nil {
		return refuse(err)
	}
	var b strings.Builder
	b.WriteString(text)
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(ledgerReply(in.Action, list))
	reply.Text = b.String()
	return reply, nil
}

// check refuses what an action cannot be done with, or does not take.
func (in assumptionArgs) check() error {
	given := []struct {
		name    string
		is      bool
		actions string
	}{
		{"assumption", in.Assumption != "", "append"},
		{"concepts", len(in.Concepts) > 0, "append, update"},
		{"context", in.Context != "", "append"},
		{"validationPlan", in.Validation != "", "append, update"},
		{"confidence", in.Confidence != "", "append, update"},
		{"uri", in.URI != "", "update, read"},
		{"status", in.Status != "", "update"},
		{"notes", in.Notes != "", "update"},
	}
	for _, g := range given {
		if g.is && !strings.Contains(g.actions, in.Action) {
			return &refusal{codeInvalidArgument, fmt.Sprintf("%s belongs to the action %s; leave it out, or use that", g.name, strings.ReplaceAll(g.actions, ", ", " or "))}
		}
	}
	return nil
}

type assumptionOut struct {
	URI        string   `json:"uri"`
	Assumption string   `json:"assumption"`
	Status     string   `json:"status"`
	Confidence string   `json:"confidence"`
	Concepts   []string `json:"concepts"`
}

// A ledgerOut is what a program is told of an action.
type ledgerOut struct {
	Action      string          `json:"action"`
	Assumptions []assumptionOut `json:"assumptions"`
}

func ledgerReply(action string, list []Assumption) ledgerOut {
	out := ledgerOut{action, []assumptionOut{}}
	for _, a := range list {
		out.Assumptions = append(out.Assumptions, assumptionOut{a.URI, a.Text, a.Status, a.Confidence, append([]string{}, a.Concepts...)})
	}
	return out
}

// lines tells of assumptions, a line each.
func lines(list []Assumption) string {
	if len(list) == 0 {
		return "No assumptions yet. Append one before you build on it."
	}
	var b strings.Builder
	b.WriteString("The assumptions made last:\n")
	for _, a := range list {
		fmt.Fprintf(&b, "\n- %s (%s, confidence %s): %s", a.URI, a.Status, a.Confidence, oneLine(a.Text))
	}
	return b.String()
}
