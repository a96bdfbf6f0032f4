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
)

// A Definition says which steps a workflow has. The names of its members in
// JSON are those of Maenifold's files.
type Definition struct {
	ID          string   `json:"id"` // letters, digits, - and _
	Name        string   `json:"name"`
	Emoji       string   `json:"emoji,omitempty"`
	Description string   `json:"description,omitempty"`
	Triggers    []string `json:"triggers,omitempty"` // what people say when they want it
	// Enhanced says that steps may ask for a session of sequential thinking.
	Enhanced bool   `json:"enhancedThinkingEnabled,omitempty"`
	Steps    []Step `json:"steps"`

	// File is the path in the vault of the file that the definition is from. It
	// is empty for one that is shipped.
	File string `json:"-"`
}

// A Step is something to do, and to answer.
type Step struct {
	ID          string `json:"id,omitempty"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Enhanced asks for a session of sequential thinking with the run as parent.
	Enhanced bool `json:"requiresEnhancedThinking,omitempty"`
	// Metadata is what a file says beyond that, for whoever does the step.
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

const (
	mostDefinition = 1 << 20 // bytes of a file
	mostSteps      = 200
	mostName       = 200   // characters
	mostProse      = 20000 // characters
)

var validID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// parseDefinition reads a definition's file. Members that it does not know are
// passed over.
func parseDefinition(file string, data []byte) (Definition, error) {
	var d Definition
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if len(data) > mostDefinition {
		return d, mistake(file, "", "make it shorter", "it is longer than %d KiB", mostDefinition>>10)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil {
		return d, mistaken(file, data, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return d, mistake(file, "", "keep one definition a file", "there is more after the definition")
	}
	for i := range d.Steps {
		if s := &d.Steps[i]; string(s.Metadata) == "null" {
			s.Metadata = nil
		}
	}
	d.File = file
	return d, d.check()
}

// check finds the first field that is not right.
func (d *Definition) check() error {
	wrong := func(field, fix, format string, args ...any) error {
		return mistake(d.File, field, fix, format, args...)
	}
	text := func(field, value string, most int) error {
		if n := len([]rune(value)); n > most {
			return wrong(field, "make it shorter", "it has %d characters, the limit is %d", n, most)
		}
		return nil
	}
	switch {
	case d.ID == "":
		return wrong("id", `add one, such as "id": "release"`, "it is missing or empty")
	case !validID().MatchString(d.ID):
		return wrong("id", "use letters, digits, - and _, at most 100 of them", "%q cannot be an id", short(d.ID))
	case strings.TrimSpace(d.Name) == "":
		return wrong("name", `add one, such as "name": "Release"`, "it is missing or empty")
	case len(d.Steps) == 0:
		return wrong("steps", `add some, such as "steps": [{"name": "Write the notes", "description": "…"}]`, "it is missing or empty")
	case len(d.Steps) > mostSteps:
		return wrong("steps", "make two workflows of it", "there are %d, the limit is %d", len(d.Steps), mostSteps)
	}
	err := errors.Join(text("name", d.Name, mostName), text("emoji", d.Emoji, mostName), text("description", d.Description, mostProse))
	seen := make(map[string]int)
	for i, s := range d.Steps {
		field := fmt.Sprintf("steps[%d]", i)
		if strings.TrimSpace(s.Name) == "" {
			return wrong(field+".name", `add one, such as "name": "Write the notes"`, "it is missing or empty")
		}
		if first, twice := seen[s.ID]; twice && s.ID != "" {
			return wrong(field+".id", "give each step an id of its own", "%q is the id of steps[%d] already", short(s.ID), first)
		}
		seen[s.ID] = i
		err = errors.Join(err, text(field+".name", s.Name, mostName), text(field+".description", s.Description, mostProse))
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok {
		return e // the first
	}
	return nil
}

// mistaken says what JSON does not like about a file.
func mistaken(file string, data []byte, err error) error {
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return mistake(file, bad.Field, "write "+kindOf(bad)+" there", "it is %s", article(bad.Value))
	}
	offset := int64(len(data))
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = bad.Offset
	}
	line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
	return mistake(file, "", "mend the JSON there", "line %d is not JSON (%v)", line, err)
}

// article puts one before what JSON calls a kind of value.
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

// ParseQueue reads what names one definition, or several as a JSON array.
func ParseQueue(s string) ([]string, error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "[") {
		return []string{s}, nil
	}
	var ids []string
	if err := json.Unmarshal([]byte(s), &ids); err != nil {
		return nil, invalid("workflowId", `use one id, or a list such as ["research", "design"]`, "workflowId is no list of ids")
	}
	return ids, nil
}

// adHoc makes a definition of steps that a caller lists.
func adHoc(title string, steps []string) (Definition, error) {
	d := Definition{Name: strings.TrimSpace(title)}
	if d.Name == "" {
		d.Name = "Steps of its own"
	}
	if strings.ContainsAny(d.Name, "\r\n") || len([]rune(d.Name)) > mostName {
		return d, invalid("title", "use one line", "the title is not one line of at most %d characters", mostName)
	}
	if len(steps) > mostSteps {
		return d, invalid("steps", "start with fewer", "there are %d steps, the limit is %d", len(steps), mostSteps)
	}
	for i, text := range steps {
		text = strings.TrimSpace(text)
		name, description, _ := strings.Cut(text, "\n")
		switch {
		case text == "":
			return d, invalid(fmt.Sprintf("steps[%d]", i), "say what is to be done", "step %d is empty", i+1)
		case len([]rune(text)) > mostProse:
			return d, invalid(fmt.Sprintf("steps[%d]", i), "say it shorter", "step %d has more than %d characters", i+1, mostProse)
		case len([]rune(name)) > mostName:
			name, description = short(name), text
		}
		d.Steps = append(d.Steps, Step{Name: strings.TrimSpace(name), Description: strings.TrimSpace(description)})
	}
	return d, nil
}
