package workflow

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// Folder is the folder of a vault with definitions, in files that end in .json.
const Folder = "workflows"

//go:embed shipped/*.json
var shipped embed.FS

// Definitions returns all valid definitions, sorted by id, and an error for each invalid
// file or for the folder. The last result is an error only if ctx is cancelled.
func (w *Workflows) Definitions(ctx context.Context) ([]Definition, []error, error) {
	all := make(map[string]Definition)
	for _, d := range shippedDefinitions() {
		all[d.ID] = d
	}
	var mistakes []error
	names, err := w.vault.List(ctx, Folder)
	if ctx.Err() != nil {
		return nil, nil, err
	}
	if err != nil { // for instance a link; the shipped definitions remain
		mistakes = append(mistakes, err)
	}
	for _, name := range names {
		if !strings.EqualFold(path.Ext(name), ".json") {
			continue
		}
		file := path.Join(Folder, name)
		d, err := w.definition(ctx, file)
		if ctx.Err() != nil {
			return nil, nil, err
		}
		if other := all[d.ID]; err == nil && other.File != "" {
			err = mistake(file, "id", "use another id", "%s has the same id %q", other.File, d.ID)
		}
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		all[d.ID] = d
	}
	list := make([]Definition, 0, len(all))
	for _, d := range all {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Definition) int { return cmp.Compare(a.ID, b.ID) })
	return list, mistakes, nil
}

func (w *Workflows) definition(ctx context.Context, file string) (Definition, error) {
	data, err := w.vault.ReadFile(ctx, file)
	if err != nil {
		return Definition{}, err
	}
	return parseDefinition(file, data)
}

// shippedDefinitions returns the definitions that are part of the program.
func shippedDefinitions() []Definition {
	entries, err := shipped.ReadDir("shipped")
	if err != nil {
		panic("workflow: " + err.Error()) // they are embedded
	}
	var list []Definition
	for _, e := range entries {
		data, err := shipped.ReadFile("shipped/" + e.Name())
		if err != nil {
			panic("workflow: " + err.Error())
		}
		d, err := parseDefinition(e.Name(), data)
		if err != nil {
			panic("workflow: " + err.Error())
		}
		d.File = ""
		list = append(list, d)
	}
	return list
}

// Find returns the definitions with the given ids. The error for an id without one lists
// those that exist.
func (w *Workflows) Find(ctx context.Context, ids []string) ([]Definition, error) {
	all, mistakes, err := w.Definitions(ctx)
	if err != nil {
		return nil, err
	}
	found := make([]Definition, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(all, func(d Definition) bool { return d.ID == id })
		if at < 0 {
			return nil, unknown(id, all, mistakes)
		}
		found[i] = all[at]
	}
	return found, nil
}

// unknown returns the error for an id without a definition, or with an invalid file.
func unknown(id string, all []Definition, mistakes []error) error {
	for _, m := range mistakes {
		if strings.HasPrefix(m.Error(), path.Join(Folder, id)+".json:") {
			return m
		}
	}
	var ids []string
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	fix := "use one of " + strings.Join(ids, ", ") + "; or add " + path.Join(Folder, "NAME.json") + " to the vault"
	if len(mistakes) > 0 {
		fix += fmt.Sprintf("; files with mistakes: %v", mistakes[0])
		if more := len(mistakes) - 1; more > 0 {
			fix += fmt.Sprintf(" (and %d more)", more)
		}
	}
	return &sequent.Error{
		Code: CodeUnknownDefinition, Field: "workflowId",
		Msg: fmt.Sprintf("there is no workflow with the id %q", printable.Short(id, maxQuoted)), Fix: fix,
	}
}
