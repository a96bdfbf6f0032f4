package wiki

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// The ledger of assumptions is a folder of notes, assumptions/yyyy/MM/assumption-{ms}.md.
// The front matter of each has its state, the body its history: an update sets keys and
// adds a section, and leaves a person's edits alone.

// ledgerFolder is the folder of the ledger.
const ledgerFolder = "assumptions"

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

// An assumption is a note of the ledger in replies.
type assumption struct {
	URI        vault.URI `json:"uri"`
	Statement  string    `json:"assumption"` // its first line
	Status     string    `json:"status"`
	Confidence string    `json:"confidence"`
	Concepts   []string  `json:"concepts"`
}

func assumptionOf(n *vault.Note) assumption {
	return assumption{
		n.URI, strings.TrimPrefix(n.Front.Get("title"), "Assumption: "), n.Front.Get("status"), n.Front.Get("confidence"),
		append([]string{}, wikilink.Concepts(wikilink.Parse([]byte(n.Body)))...),
	}
}

// ledger answers assumption_ledger.
func ledger(ctx context.Context, t *turn, in assumptionArgs) error {
	if err := misplaced(in, in.Action); err != nil {
		return err
	}
	for _, text := range []*string{&in.Assumption, &in.Context, &in.Validation, &in.Confidence, &in.Notes} {
		*text = strings.TrimSpace(*text)
	}
	found := []assumption{}
	var n *vault.Note
	var err error
	switch {
	case in.Action == "append":
		n, err = t.assume(ctx, in)
	case in.Action == "update":
		n, err = t.updateAssumption(ctx, in)
	case in.URI != "":
		var uri vault.URI
		if uri, err = ledgerURI(in.URI); err == nil {
			n, err = t.vault.Notes.Read(ctx, uri)
		}
		if err == nil {
			t.printf("%s", strings.TrimSpace(n.Body))
		}
	default:
		found, err = t.latestAssumptions(ctx)
	}
	if err != nil {
		return err
	}
	if n != nil {
		found = append(found, assumptionOf(n))
	}
	t.out = struct {
		Action      string       `json:"action"`
		Assumptions []assumption `json:"assumptions"`
	}{in.Action, found}
	return nil
}

// assume records an assumption. Its concepts come first in the note, so that an open code
// fence in the statement cannot hide their links.
func (t *turn) assume(ctx context.Context, in assumptionArgs) (*vault.Note, error) {
	links, err := linksTo(in.Concepts)
	switch {
	case err != nil:
		return nil, err
	case in.Assumption == "":
		return nil, &refusal{codeInvalidArgument, "the assumption is empty; write a sentence that could turn out to be false"}
	case len(links) == 0 && !wikilink.HasConcept([]byte(in.Assumption)):
		return nil, &refusal{"ASSUMPTION_CONCEPT_REQUIRED", `the assumption has no concepts; name some, such as ["authentication", "JWT"]`}
	}
	title := "Assumption: " + short(in.Assumption)
	var body strings.Builder
	body.WriteString("# " + title + "\n")
	for _, part := range [][2]string{
		{"Related Concepts", strings.Join(links, "\n")}, {"Statement", vault.Block(in.Assumption)}, {"Validation Plan", vault.Block(in.Validation)},
	} {
		if part[1] != "" {
			body.WriteString(fmt.Sprintf("\n## %s\n\n%s\n", part[0], part[1]))
		}
	}
	now := t.engine.Now().UTC()
	n, err := t.vault.Notes.CreateTimed(ctx, ledgerFolder+now.Format("/2006/01"), "assumption", now, func(n *vault.Note, name string) error {
		n.Body = body.String()
		return n.Front.SetAll("title", title, "permalink", name, "type", "assumption", "status", "active",
			"confidence", cmp.Or(in.Confidence, "unspecified"), "created", now, "context", in.Context, "validation_plan", in.Validation)
	})
	if err == nil {
		t.printf("Recorded assumption: %s\n\n💡 Update it to validated, invalidated or refined as soon as you know", n.URI)
	}
	return n, err
}

// updateAssumption changes an assumption, and says what has changed and what has not.
func (t *turn) updateAssumption(ctx context.Context, in assumptionArgs) (*vault.Note, error) {
	links, err := linksTo(in.Concepts)
	if err == nil && in.Status+in.Confidence+in.Validation+in.Notes == "" && len(links) == 0 {
		err = &refusal{codeInvalidArgument, "the update changes nothing; give a status, notes, a confidence, a validationPlan or concepts"}
	}
	var uri vault.URI
	if err == nil {
		uri, err = ledgerURI(in.URI)
	}
	if err != nil {
		return nil, err
	}
	var changed, stayed []string
	n, err := t.vault.Notes.Update(ctx, uri, func(n *vault.Note) error {
		changed, stayed = nil, nil
		var set []any
		for _, f := range [][3]string{
			{"status", "status", in.Status}, {"confidence", "confidence", in.Confidence}, {"validation_plan", "validation plan", in.Validation},
		} {
			key, name, value, old := f[0], f[1], f[2], n.Front.Get(f[0])
			switch {
			case value != "" && value != old:
				changed = append(changed, fmt.Sprintf("%s: %s → %s", name, short(cmp.Or(old, "none")), short(value)))
				set = append(set, key, value)
			case old != "":
				stayed = append(stayed, name+" "+short(old))
			}
		}
		var section strings.Builder
		section.WriteString(fmt.Sprintf("## Update: %s UTC\n", t.engine.Now().UTC().Format(time.DateTime)))
		if len(changed) > 0 {
			section.WriteString("\n*" + strings.ReplaceAll(strings.Join(changed, "; "), "*", "∗") + "*\n")
		}
		for _, text := range []string{strings.Join(links, "\n"), vault.Block(in.Notes)} {
			if text != "" {
				section.WriteString("\n" + text + "\n")
			}
		}
		n.AddSection(section.String())
		return n.Front.SetAll(append(set, "updated", t.engine.Now())...)
	})
	if err != nil {
		return nil, err
	}
	if in.Notes != "" {
		changed = append(changed, "notes added")
	}
	if len(links) > 0 {
		changed = append(changed, printable.Count(len(links), "concept added", "concepts added"))
	}
	t.printf("Updated assumption: %s\n\nChanged: %s", n.URI, cmp.Or(strings.Join(changed, "; "), "nothing but the time of the update"))
	if len(stayed) > 0 {
		t.linef("As before: %s", strings.Join(stayed, "; "))
	}
	return n, nil
}

// latestAssumptions lists the assumptions that were recorded last.
func (t *turn) latestAssumptions(ctx context.Context) ([]assumption, error) {
	const limit = 20
	list, err := t.vault.Notes.Recent(ctx, ledgerFolder)
	if len(list) == 0 {
		t.printf("No assumptions yet. Append one before you build on it.")
		return []assumption{}, err
	}
	t.printf("The assumptions made last:\n")
	// Folders and names hold the time.
	slices.SortFunc(list, func(a, b vault.Info) int { return cmp.Compare(b.URI.Path(), a.URI.Path()) })
	var found []assumption
	for _, info := range list[:min(limit, len(list))] {
		n, err := t.vault.Notes.Read(ctx, info.URI)
		if err != nil {
			return nil, err
		}
		a := assumptionOf(n)
		found = append(found, a)
		t.linef("- %s (%s, confidence %s): %s", a.URI, a.Status, a.Confidence, oneLine(a.Statement))
	}
	return found, nil
}

// ledgerURI parses the URI of an assumption. It refuses that of another note, so that a
// mistaken URI gives no note a status.
func ledgerURI(text string) (vault.URI, error) {
	uri, err := vault.ParseURI(text)
	if err == nil && !strings.HasPrefix(uri.Path(), ledgerFolder+"/") {
		err = &refusal{"ASSUMPTION_NOT_FOUND", fmt.Sprintf("%s is not in the assumption ledger; pass a uri that begins with memory://%s/", uri, ledgerFolder)}
	}
	return uri, err
}

// linksTo returns list items with WikiLinks to concepts, which may have brackets already.
func linksTo(concepts []string) (items []string, err error) {
	for _, c := range concepts {
		item := "- [[" + strings.Trim(oneLine(c), "[]") + "]]"
		links := wikilink.Parse([]byte(item))
		if len(links) != 1 || links[0].Concept() == "" || links[0].Stop != len(item) {
			return nil, &refusal{codeInvalidArgument, fmt.Sprintf(`%.100q cannot be a concept; name concepts without brackets, such as "error handling"`, c)}
		}
		items = append(items, item)
	}
	return items, nil
}

// short returns a text on one line, cut to the length of a title.
func short(text string) string { return printable.Short(oneLine(text), 120) }
