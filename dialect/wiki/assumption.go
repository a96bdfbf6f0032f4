package wiki

import (
	"cmp"
	"context"
	_ "embed" // of the contract
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
)

var (
	//go:embed assumption.json
	assumptionSpec []byte
	//go:embed assumption.md
	assumptionText []byte
)

// assumptionArgs are the arguments of assumption_ledger.
type assumptionArgs struct {
	learnArgs
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
	var list []assumption.Entry
	var one assumption.Entry
	var text string
	switch {
	case in.Action == "append":
		one, err = v.Ledger.Append(ctx, assumption.Assumption{
			Statement: in.Assumption, Concepts: in.Concepts, Context: in.Context,
			ValidationPlan: in.Validation, Confidence: in.Confidence,
		})
		list, text = []assumption.Entry{one}, fmt.Sprintf("Recorded assumption: %s\n\n💡 Update it to validated, invalidated or refined as soon as you know", one.URI)
	case in.Action == "update":
		var before assumption.Entry
		before, one, err = v.Ledger.Update(ctx, vault.URI(in.URI), assumption.Change{
			Status: assumption.Status(in.Status), Confidence: in.Confidence, ValidationPlan: in.Validation,
			Notes: in.Notes, Concepts: in.Concepts,
		})
		list, text = []assumption.Entry{one}, fmt.Sprintf("Updated assumption: %s\n\n%s", one.URI, in.difference(before, one))
	case in.URI != "":
		one, err = v.Ledger.Read(ctx, vault.URI(in.URI))
		list, text = []assumption.Entry{one}, one.Body
		if err == nil {
			for _, line := range d.madeIn(ctx, c.Caller, v, one.Context) {
				text += "\n\n" + line
			}
		}
	default:
		const limit = 20
		list, err = v.Ledger.Latest(ctx, limit)
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

// difference says what an update has changed, and what stayed as it was.
func (in assumptionArgs) difference(before, after assumption.Entry) string {
	var changed, stayed []string
	compare := func(name, old, now string) {
		switch {
		case old == now && now != "":
			stayed = append(stayed, fmt.Sprintf("%s %s", name, short(now, maxStatement)))
		case old != now:
			changed = append(changed, fmt.Sprintf("%s: %s → %s", name, short(cmp.Or(old, "none"), maxStatement), short(now, maxStatement)))
		}
	}
	compare("status", string(before.Status), string(after.Status))
	compare("confidence", before.Confidence, after.Confidence)
	compare("validation plan", before.ValidationPlan, after.ValidationPlan)
	if strings.TrimSpace(in.Notes) != "" {
		changed = append(changed, "notes added")
	}
	if added := len(after.Concepts) - len(before.Concepts); added > 0 {
		changed = append(changed, wording.Count(added, "concept added", "concepts added"))
	}
	if len(changed) == 0 {
		changed = []string{"nothing but the time of the update"}
	}
	text := "Changed: " + strings.Join(changed, "; ")
	if len(stayed) > 0 {
		text += "\nAs before: " + strings.Join(stayed, "; ")
	}
	return text
}

// check refuses arguments that do not belong to the action.
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
			return notOf(g.name, g.actions)
		}
	}
	return nil
}

type assumptionOut struct {
	URI        vault.URI         `json:"uri"`
	Assumption string            `json:"assumption"`
	Status     assumption.Status `json:"status"`
	Confidence string            `json:"confidence"`
	Concepts   []string          `json:"concepts"`
}

// A ledgerOut is the result of an action for a program.
type ledgerOut struct {
	Action      string          `json:"action"`
	Assumptions []assumptionOut `json:"assumptions"`
}

func ledgerReply(action string, list []assumption.Entry) ledgerOut {
	out := ledgerOut{action, []assumptionOut{}}
	for _, a := range list {
		out.Assumptions = append(out.Assumptions, assumptionOut{a.URI, a.Statement, a.Status, a.Confidence, append([]string{}, a.Concepts...)})
	}
	return out
}

// lines lists assumptions, a line each.
func lines(list []assumption.Entry) string {
	if len(list) == 0 {
		return "No assumptions yet. Append one before you build on it."
	}
	var b strings.Builder
	b.WriteString("The assumptions made last:\n")
	for _, a := range list {
		fmt.Fprintf(&b, "\n- %s (%s, confidence %s): %s", a.URI, a.Status, a.Confidence, oneLine(a.Statement))
	}
	return b.String()
}
