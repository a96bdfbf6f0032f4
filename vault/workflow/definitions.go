package workflow

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// Maenifold's files.
type Definition struct {
	ID          string   `json:"id"` // letters, digits, - and _
	Name        string   `json:"name"`
	Emoji       string   `json:"emoji,omitempty"`
	Description string   `json:"description,omitempty"`
	Triggers    []string `json:"triggers,omitempty"` // phrases with which people ask for it
	// Enhanced allows steps to ask for a session of sequential thinking.
	Enhanced bool   `json:"enhancedThinkingEnabled,omitempty"`
	Steps    []Step `json:"steps"`

	// File is the path of the definition's file in the vault; empty for a shipped
	// definition.
	File string `json:"-"`
}

// A Step is a task of a workflow.
type Step struct {
	ID          string `json:"id,omitempty"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Enhanced asks for a session of sequential thinking with the run as parent.
	Enhanced bool `json:"requiresEnhancedThinking,omitempty"`
	// Metadata is further data of the file for the agent.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Folder is the folder of a vault with definitions, in files that end in .json.
const Folder = "workflows"

//go:embed shipped/*.json
var shipped embed.FS

// Definitions returns all valid definitions, sorted by id, and an error for each invalid
// file or for the folder.
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
		if other := all[d.ID]; err == nil && other.File != "" {
			err = mistake(d.File, "id", "use another id", "%s has the same id %q", other.File, d.ID)
		}
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		all[d.ID] = d
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Definition) int { return cmp.Compare(a.ID, b.ID) }), mistakes
}

// Find returns the definitions with the given ids. The error for an id without one lists
// those that exist.
func (w *Workflows) Find(ctx context.Context, ids []string) ([]Definition, error) {
	all, mistakes := w.Definitions(ctx)
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
	return sequent.Errorf(CodeUnknownDefinition, "workflowId", fix,
		"there is no workflow with the id %q", printable.Short(id, maxQuoted))
}

const maxSteps = 200

var validID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// parseDefinition parses a definition. It ignores unknown members.
func parseDefinition(file string, data []byte) (Definition, error) {
	d := Definition{File: file}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	dec := json.NewDecoder(bytes.NewReader(data))
	err := dec.Decode(&d)
	if err != nil {
		if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			want := map[reflect.Kind]string{reflect.String: "text in quotes", reflect.Bool: "true or false", reflect.Slice: "a list in brackets"}
			return d, mistake(file, bad.Field, "write "+cmp.Or(want[bad.Type.Kind()], "an object in braces")+" there", "it is of the type %s", bad.Value)
		}
		line := 1 + bytes.Count(data[:min(dec.InputOffset(), int64(len(data)))], []byte("\n"))
		if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
			line = 1 + bytes.Count(data[:min(bad.Offset, int64(len(data)))], []byte("\n"))
		}
		return d, mistake(file, "", "correct the JSON there", "line %d is not JSON (%v)", line, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return d, mistake(file, "", "write one definition per file", "there is text after the definition")
	}
	return d, d.check()
}

// check returns an error for the first invalid field.
func (d *Definition) check() error {
	const missing = "it is missing or empty"
	switch {
	case d.ID == "":
		return mistake(d.File, "id", `add one, such as "id": "release"`, missing)
	case !validID().MatchString(d.ID):
		return mistake(d.File, "id", "use letters, digits, - and _, at most 100 of them", "%q cannot be an id", printable.Short(d.ID, maxQuoted))
	case strings.TrimSpace(d.Name) == "":
		return mistake(d.File, "name", `add one, such as "name": "Release"`, missing)
	case len(d.Steps) == 0:
		return mistake(d.File, "steps", `add some, such as "steps": [{"name": "Write the notes", "description": "…"}]`, missing)
	case len(d.Steps) > maxSteps:
		return mistake(d.File, "steps", "divide it into two workflows", "there are %d, the limit is %d", len(d.Steps), maxSteps)
	}
	seen := make(map[string]int)
	for i := range d.Steps {
		s, field := &d.Steps[i], fmt.Sprintf("steps[%d]", i)
		if strings.TrimSpace(s.Name) == "" {
			return mistake(d.File, field+".name", `add one, such as "name": "Write the notes"`, missing)
		}
		if first, twice := seen[s.ID]; twice && s.ID != "" {
			return mistake(d.File, field+".id", "use another id", "%q is already the id of steps[%d]", printable.Short(s.ID, maxQuoted), first)
		}
		seen[s.ID] = i
		if string(s.Metadata) == "null" {
			s.Metadata = nil
		}
	}
	return nil
}

func mistake(file, field, fix, format string, args ...any) error {
	where := file
	if field != "" {
		where += ": " + field
	}
	return &sequent.Error{Code: CodeBadDefinition, Field: field, Msg: where + ": " + fmt.Sprintf(format, args...), Fix: fix}
}

// ParseQueue parses an id, or a JSON array of ids.
func ParseQueue(s string) ([]string, error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[") {
		return []string{s}, nil
	}
	var ids []string
	if err := json.Unmarshal([]byte(s), &ids); err != nil {
		return nil, invalid("workflowId", `use one id, or a list such as ["research", "design"]`, "workflowId is not a list of ids")
	}
	return ids, nil
}

// adHoc returns a definition for a list of steps: the first line of each is its name.
func adHoc(title string, steps []string) (Definition, error) {
	d := Definition{Name: cmp.Or(strings.TrimSpace(title), "Steps of its own")}
	if strings.ContainsAny(d.Name, "\r\n") || len([]rune(d.Name)) > maxName {
		return d, invalid("title", "use one line", "the title is not one line of at most %d characters", maxName)
	}
	if len(steps) > maxSteps {
		return d, invalid("steps", "start with fewer", "there are %d steps, the limit is %d", len(steps), maxSteps)
	}
	for i, text := range steps {
		text = strings.TrimSpace(text)
		if text == "" {
			return d, invalid(fmt.Sprintf("steps[%d]", i), "write what to do", "step %d is empty", i+1)
		}
		name, description, _ := strings.Cut(text, "\n")
		if short := printable.Short(name, maxName); short != name {
			name, description = short, text
		}
		d.Steps = append(d.Steps, Step{Name: strings.TrimSpace(name), Description: strings.TrimSpace(description)})
	}
	return d, nil
}
