package workflow

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A Definition is a workflow that can be started. Its JSON has the member names of
// Maenifold's files; other members are ignored.
type Definition struct {
	ID          string `json:"id"` // letters, digits, - and _
	Name        string `json:"name"`
	Emoji       string `json:"emoji"`
	Description string `json:"description"`
	Steps       []Step `json:"steps"`
}

// A Step is a task of a workflow.
type Step struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Enhanced asks for a session of sequential thinking with the run as parent.
	Enhanced bool `json:"requiresEnhancedThinking"`
	// Metadata is further data of the file for the agent.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Folder is the folder of a vault with definitions, in files that end in .json.
const Folder = "workflows"

const (
	maxQuoted = 80  // characters of a caller's text in an error and in a title
	maxName   = 200 // characters of a step's name
)

//go:embed shipped/*.json
var shipped embed.FS

// Definitions returns all valid definitions, sorted by id, and an error for each invalid
// file or for the folder. A file of the vault replaces a shipped definition with its id.
func (w *Workflows) Definitions(ctx context.Context) ([]Definition, []error) {
	all := make(map[string]Definition)
	entries, _ := shipped.ReadDir("shipped") // they are embedded, and tested
	for _, e := range entries {
		data, _ := shipped.ReadFile("shipped/" + e.Name())
		d, _ := parseDefinition("", data)
		all[d.ID] = d
	}
	var mistakes []error
	files := w.vault.Files(ctx, Folder, ".json", func(err error) { mistakes = append(mistakes, err) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		d, err := parseDefinition(path.Join(Folder, name), files[name])
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		all[d.ID] = d
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Definition) int { return cmp.Compare(a.ID, b.ID) }), mistakes
}

// find returns the definitions with the given ids. The error for an id without one lists
// those that exist.
func (w *Workflows) find(ctx context.Context, ids []string) ([]Definition, error) {
	all, mistakes := w.Definitions(ctx)
	found := make([]Definition, len(ids))
	for i, id := range ids {
		at := slices.IndexFunc(all, func(d Definition) bool { return d.ID == id })
		if at >= 0 {
			found[i] = all[at]
			continue
		}
		var known []string
		for _, d := range all {
			known = append(known, d.ID)
		}
		fix := "use one of " + strings.Join(known, ", ") + "; or add " + path.Join(Folder, "NAME.json") + " to the vault"
		if len(mistakes) > 0 {
			fix += fmt.Sprintf("; files with mistakes: %v", errors.Join(mistakes...))
		}
		return nil, sequent.Errorf(CodeUnknownDefinition, "workflowId", fix,
			"there is no workflow with the id %q", printable.Short(id, maxQuoted))
	}
	return found, nil
}

var validID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// parseDefinition parses a definition.
func parseDefinition(file string, data []byte) (d Definition, err error) {
	mistake := func(field, fix, format string, args ...any) error {
		return &sequent.Error{Code: CodeBadDefinition, Field: field, Msg: file + ": " + field + fmt.Sprintf(format, args...), Fix: fix}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	err = json.Unmarshal(data, &d)
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		want := map[reflect.Kind]string{reflect.String: "text in quotes", reflect.Bool: "true or false", reflect.Slice: "a list in brackets"}
		return d, mistake(cmp.Or(bad.Field, "it"), "write "+cmp.Or(want[bad.Type.Kind()], "an object in braces")+" there", " is of the type %s", bad.Value)
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(data[:min(bad.Offset, int64(len(data)))], []byte("\n"))
		return d, mistake("", "correct the JSON there", "line %d is not JSON (%v)", line, err)
	}
	switch {
	case !validID().MatchString(d.ID):
		return d, mistake("id", `use letters, digits, - and _, at most 100 of them, such as "id": "release"`,
			" cannot be %q", printable.Short(d.ID, maxQuoted))
	case strings.TrimSpace(d.Name) == "":
		return d, mistake("name", `add one, such as "name": "Release"`, " is missing or empty")
	case len(d.Steps) == 0:
		return d, mistake("steps", `add some, such as "steps": [{"name": "Write the notes", "description": "…"}]`, " is missing or empty")
	}
	for i, s := range d.Steps {
		if strings.TrimSpace(s.Name) == "" {
			return d, mistake(fmt.Sprintf("steps[%d].name", i), `add one, such as "name": "Write the notes"`, " is missing or empty")
		}
	}
	return d, err
}

// ParseQueue parses an id, or a JSON array of ids.
func ParseQueue(s string) ([]string, error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[") {
		return []string{s}, nil
	}
	var ids []string
	if err := json.Unmarshal([]byte(s), &ids); err != nil {
		return nil, sequent.Errorf(CodeInvalid, "workflowId", `use one id, or a list such as ["research", "design"]`, "workflowId is not a list of ids")
	}
	return ids, nil
}

// ownSteps returns a definition for a list of steps: the first line of each is its name.
func ownSteps(title string, steps []string) Definition {
	d := Definition{Name: cmp.Or(oneLine(title), "Steps of its own")}
	for _, text := range steps {
		text = strings.TrimSpace(text)
		name, description, _ := strings.Cut(text, "\n")
		if short := printable.Short(name, maxName); short != name {
			name, description = short, text
		}
		if name != "" {
			d.Steps = append(d.Steps, Step{Name: strings.TrimSpace(name), Description: strings.TrimSpace(description)})
		}
	}
	return d
}
