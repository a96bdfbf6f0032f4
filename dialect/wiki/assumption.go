package wiki

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
)

// assumptionArgs are the arguments of assumption_ledger.
type assumptionArgs struct {
	Action     string   `json:"action"`
	Assumption string   `json:"assumption,omitzero" action:"append"`
	Concepts   []string `json:"concepts" action:"append,update"`
	Context    string   `json:"context,omitzero" action:"append"`
	Validation string   `json:"validationPlan,omitzero" alias:"validation_plan" action:"append,update"`
	Confidence string   `json:"confidence,omitzero" action:"append,update"`
	URI        string   `json:"uri,omitzero" action:"update,read"`
	Status     string   `json:"status,omitzero" action:"update"`
	Notes      string   `json:"notes,omitzero" action:"update"`
}

type assumptionOut struct {
	URI        vault.URI         `json:"uri"`
	Assumption string            `json:"assumption"`
	Status     assumption.Status `json:"status"`
	Confidence string            `json:"confidence"`
	Concepts   []string          `json:"concepts"`
}

// ledger answers assumption_ledger.
func ledger(ctx context.Context, t *turn, in assumptionArgs) error {
	if err := misplaced(in, in.Action); err != nil {
		return err
	}
	var one assumption.Entry
	var err error
	l := t.vault.Ledger
	found := []assumption.Entry{}
	switch {
	case in.Action == "append":
		one, err = l.Append(ctx, assumption.Assumption{
			Statement: in.Assumption, Concepts: in.Concepts, Context: in.Context,
			ValidationPlan: in.Validation, Confidence: in.Confidence,
		})
		t.printf("Recorded assumption: %s\n\n💡 Update it to validated, invalidated or refined as soon as you know", one.URI)
	case in.Action == "update":
		var before assumption.Entry
		before, one, err = l.Update(ctx, vault.URI(in.URI), assumption.Change{
			Status: assumption.Status(in.Status), Confidence: in.Confidence, ValidationPlan: in.Validation,
			Notes: in.Notes, Concepts: in.Concepts,
		})
		t.printf("Updated assumption: %s\n\n%s", one.URI, in.difference(before, one))
	case in.URI != "":
		one, err = l.Read(ctx, vault.URI(in.URI))
		t.printf("%s", one.Body)
	default:
		const limit = 20
		if found, err = l.Latest(ctx, limit); len(found) == 0 {
			t.printf("No assumptions yet. Append one before you build on it.")
		} else {
			t.printf("The assumptions made last:\n")
		}
		for _, a := range found {
			t.linef("- %s (%s, confidence %s): %s", a.URI, a.Status, a.Confidence, oneLine(a.Statement))
		}
	}
	if err != nil {
		return err
	}
	if one.URI != "" {
		found = append(found, one)
	}
	out := []assumptionOut{}
	for _, a := range found {
		out = append(out, assumptionOut{a.URI, a.Statement, a.Status, a.Confidence, append([]string{}, a.Concepts...)})
	}
	t.out = struct {
		Action      string          `json:"action"`
		Assumptions []assumptionOut `json:"assumptions"`
	}{in.Action, out}
	return nil
}

const maxStatement = 120 // bytes of an assumption in a line

// difference says what an update has changed, and what stayed as it was.
func (in assumptionArgs) difference(before, after assumption.Entry) string {
	var changed, stayed []string
	for _, f := range [][3]string{
		{"status", string(before.Status), string(after.Status)},
		{"confidence", before.Confidence, after.Confidence},
		{"validation plan", before.ValidationPlan, after.ValidationPlan},
	} {
		name, old, now := f[0], f[1], short(f[2], maxStatement)
		switch {
		case old != f[2]:
			changed = append(changed, fmt.Sprintf("%s: %s → %s", name, short(cmp.Or(old, "none"), maxStatement), now))
		case now != "":
			stayed = append(stayed, name+" "+now)
		}
	}
	if strings.TrimSpace(in.Notes) != "" {
		changed = append(changed, "notes added")
	}
	if added := len(after.Concepts) - len(before.Concepts); added > 0 {
		changed = append(changed, printable.Count(added, "concept added", "concepts added"))
	}
	text := "Changed: " + cmp.Or(strings.Join(changed, "; "), "nothing but the time of the update")
	if len(stayed) > 0 {
		text += "\nAs before: " + strings.Join(stayed, "; ")
	}
	return text
}

// short returns the beginning of a text on one line.
func short(text string, bytes int) string {
	text = oneLine(text)
	if len(text) <= bytes {
		return text
	}
	cut := strings.ToValidUTF8(text[:bytes], "")
	if i := strings.LastIndexByte(cut, ' '); i > bytes/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
