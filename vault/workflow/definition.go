package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

const (
	maxFileBytes = 1 << 20
	maxSteps     = 200
	maxNameChars = 200
	maxTextChars = 20000
)

var validID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// parseDefinition parses a definition. It ignores unknown members.
func parseDefinition(file string, data []byte) (Definition, error) {
	var d Definition
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if len(data) > maxFileBytes {
		return d, mistake(file, "", "make it shorter", "it is longer than %d KiB", maxFileBytes>>10)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil {
		return d, mistaken(file, data, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return d, mistake(file, "", "write one definition per file", "there is text after the definition")
	}
	for i := range d.Steps {
		if s := &d.Steps[i]; string(s.Metadata) == "null" {
			s.Metadata = nil
		}
	}
	d.File = file
	return d, d.check()
}

// check returns an error for the first invalid field.
func (d *Definition) check() error {
	wrong := func(field, fix, format string, args ...any) error {
		return mistake(d.File, field, fix, format, args...)
	}
	text := func(field, value string, limit int) error {
		if n := len([]rune(value)); n > limit {
			return wrong(field, "make it shorter", "it has %d characters, the limit is %d", n, limit)
		}
		return nil
	}
	switch {
	case d.ID == "":
		return wrong("id", `add one, such as "id": "release"`, "it is missing or empty")
	case !validID().MatchString(d.ID):
		return wrong("id", "use letters, digits, - and _, at most 100 of them", "%q cannot be an id", printable.Short(d.ID, maxQuoted))
	case strings.TrimSpace(d.Name) == "":
		return wrong("name", `add one, such as "name": "Release"`, "it is missing or empty")
	case len(d.Steps) == 0:
		return wrong("steps", `add some, such as "steps": [{"name": "Write the notes", "description": "…"}]`, "it is missing or empty")
	case len(d.Steps) > maxSteps:
		return wrong("steps", "divide it into two workflows", "there are %d, the limit is %d", len(d.Steps), maxSteps)
	}
	err := errors.Join(text("name", d.Name, maxNameChars), text("emoji", d.Emoji, maxNameChars), text("description", d.Description, maxTextChars))
	seen := make(map[string]int)
	for i, s := range d.Steps {
		field := fmt.Sprintf("steps[%d]", i)
		if strings.TrimSpace(s.Name) == "" {
			return wrong(field+".name", `add one, such as "name": "Write the notes"`, "it is missing or empty")
		}
		if first, twice := seen[s.ID]; twice && s.ID != "" {
			return wrong(field+".id", "use another id", "%q is already the id of steps[%d]", printable.Short(s.ID, maxQuoted), first)
		}
		seen[s.ID] = i
		err = errors.Join(err, text(field+".name", s.Name, maxNameChars), text(field+".description", s.Description, maxTextChars))
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e // the first
	}
	return nil
}

// mistaken returns the error for a file that is not JSON or has a wrong type.
func mistaken(file string, data []byte, err error) error {
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return mistake(file, bad.Field, "write "+kindOf(bad)+" there", "it is %s", article(bad.Value))
	}
	offset := int64(len(data))
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = bad.Offset
	}
	line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
	return mistake(file, "", "correct the JSON there", "line %d is not JSON (%v)", line, err)
}

// article returns a JSON type with its article.
func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}

func kindOf(bad *json.UnmarshalTypeError) string {
	switch bad.Type.Kind().String() {
	case "string":
		return "text in quotes"
	case "bool":
		return "true or false"
	case "slice":
		return "a list in brackets"
	}
	return "an object in braces"
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

// adHoc returns a definition for a list of steps.
func adHoc(title string, steps []string) (Definition, error) {
	d := Definition{Name: strings.TrimSpace(title)}
	if d.Name == "" {
		d.Name = "Steps of its own"
	}
	if strings.ContainsAny(d.Name, "\r\n") || len([]rune(d.Name)) > maxNameChars {
		return d, invalid("title", "use one line", "the title is not one line of at most %d characters", maxNameChars)
	}
	if len(steps) > maxSteps {
		return d, invalid("steps", "start with fewer", "there are %d steps, the limit is %d", len(steps), maxSteps)
	}
	for i, text := range steps {
		text = strings.TrimSpace(text)
		name, description, _ := strings.Cut(text, "\n")
		switch {
		case text == "":
			return d, invalid(fmt.Sprintf("steps[%d]", i), "write what to do", "step %d is empty", i+1)
		case len([]rune(text)) > maxTextChars:
			return d, invalid(fmt.Sprintf("steps[%d]", i), "shorten it", "step %d has more than %d characters", i+1, maxTextChars)
		case len([]rune(name)) > maxNameChars:
			name, description = printable.Short(name, maxTitle), text
		}
		d.Steps = append(d.Steps, Step{Name: strings.TrimSpace(name), Description: strings.TrimSpace(description)})
	}
	return d, nil
}
