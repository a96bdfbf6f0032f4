package workflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault/workflow"
)

func TestShipped(t *testing.T) {
	var ids []string
	w, _ := open(t)
	shipped, mistakes := w.Definitions(t.Context())
	if len(mistakes) > 0 {
		t.Error(mistakes)
	}
	for _, d := range shipped {
		ids = append(ids, d.ID)
		if d.Description == "" || d.Emoji == "" || len(d.Steps) < 5 || !slices.ContainsFunc(d.Steps, func(s workflow.Step) bool { return s.Enhanced }) {
			t.Errorf("%s is incomplete", d.ID)
		}
		for _, s := range d.Steps {
			if n := utf8.RuneCountInString(s.Description); n < 100 || n > 700 {
				t.Errorf("%s, %s: the description has %d characters", d.ID, s.Name, n)
			}
		}
	}
	if want := []string{"debugging", "decision", "design", "planning", "research", "retrospective"}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
}

func TestDefinitions(t *testing.T) {
	w, dir := open(t)
	write(t, dir, "workflows/release.json", "\uFEFF"+twoSteps)
	write(t, dir, "workflows/design.json", `{"id": "design", "name": "Mine", "steps": [{"name": "Do it"}], "unknown": {"a": 1}}`)
	write(t, dir, "workflows/readme.md", "not one")
	for name, text := range map[string]string{
		"a-empty.json":   ``,
		"b-broken.json":  "{\n  \"id\": \"b\",\n  \"name\": }\n",
		"c-list.json":    `[]`,
		"d-type.json":    `{"id": "d", "name": "D", "steps": [{"name": 7}]}`,
		"e-steps.json":   `{"id": "e", "name": "E", "steps": {"a": 1}}`,
		"f-flag.json":    `{"id": "f", "name": "F", "steps": [{"name": "a", "requiresEnhancedThinking": "yes"}]}`,
		"g-id.json":      `{"id": "../g", "name": "G", "steps": [{"name": "a"}]}`,
		"h-noname.json":  `{"id": "h", "name": "H", "steps": [{"name": "a"}, {"id": "b"}]}`,
		"j-more.json":    `{"id": "j", "name": "J", "steps": [{"name": "a"}]} {}`,
		"l-noid.json":    `{"name": "L", "steps": [{"name": "a"}]}`,
		"m-nosteps.json": `{"id": "m", "name": "M"}`,
	} {
		write(t, dir, "workflows/"+name, text)
	}
	list, mistakes := w.Definitions(t.Context())
	var ids []string
	for _, d := range list {
		ids = append(ids, d.ID)
		if d.ID == "design" && d.Name != "Mine" {
			t.Errorf("design is %+v", d)
		}
	}
	if want := []string{"debugging", "decision", "design", "planning", "release", "research", "retrospective"}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
	var got strings.Builder
	for _, m := range mistakes {
		fmt.Fprintf(&got, "%s %v\n", sequent.CodeOf(m), m)
	}
	const want = `workflow_bad_definition workflows/a-empty.json: line 1 is not JSON (unexpected end of JSON input): correct the JSON there
workflow_bad_definition workflows/b-broken.json: line 3 is not JSON (invalid character '}' looking for beginning of value): correct the JSON there
workflow_bad_definition workflows/c-list.json: it is of the type array: write an object in braces there
workflow_bad_definition workflows/d-type.json: steps.name is of the type number: write text in quotes there
workflow_bad_definition workflows/e-steps.json: steps is of the type object: write a list in brackets there
workflow_bad_definition workflows/f-flag.json: steps.requiresEnhancedThinking is of the type string: write true or false there
workflow_bad_definition workflows/g-id.json: id cannot be "../g": use letters, digits, - and _, at most 100 of them, such as "id": "release"
workflow_bad_definition workflows/h-noname.json: steps[1].name is missing or empty: add one, such as "name": "Write the notes"
workflow_bad_definition workflows/j-more.json: line 1 is not JSON (invalid character '{' after top-level value): correct the JSON there
workflow_bad_definition workflows/l-noid.json: id cannot be "": use letters, digits, - and _, at most 100 of them, such as "id": "release"
workflow_bad_definition workflows/m-nosteps.json: steps is missing or empty: add some, such as "steps": [{"name": "Write the notes", "description": "…"}]
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// A folder that is a link is not followed, and the shipped definitions remain.
func TestDefinitionsElsewhere(t *testing.T) {
	w, dir := open(t)
	outside := t.TempDir()
	write(t, outside, "release.json", twoSteps)
	if err := os.Symlink(outside, filepath.Join(dir, "workflows")); err != nil {
		t.Skip(err)
	}
	list, mistakes := w.Definitions(t.Context())
	if len(list) != 6 || len(mistakes) != 1 || !strings.Contains(mistakes[0].Error(), "link") {
		t.Errorf("got %d definitions, %v", len(list), mistakes)
	}
	must(t)(w.Start(t.Context(), workflow.Plan{Queue: []string{"design"}}))
	if _, err := w.Start(t.Context(), workflow.Plan{Queue: []string{"release"}}); sequent.CodeOf(err) != workflow.CodeUnknownDefinition {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "workflows")); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "workflows/own.json", twoSteps)
	if err := os.Symlink(filepath.Join(outside, "release.json"), filepath.Join(dir, "workflows", "link.json")); err != nil {
		t.Fatal(err)
	}
	if list, mistakes := w.Definitions(t.Context()); len(list) != 7 || len(mistakes) != 0 {
		t.Errorf("got %d definitions, %v", len(list), mistakes)
	}
}

func TestParseQueue(t *testing.T) {
	for text, want := range map[string][]string{
		"design": {"design"}, ` [ "a" , "b" ] `: {"a", "b"}, "": {""}, "[]": {},
	} {
		if got, err := workflow.ParseQueue(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{`["a"`, `[1]`, `["a"] x`} {
		if _, err := workflow.ParseQueue(text); sequent.CodeOf(err) != workflow.CodeInvalid {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// Every file is either a definition that can be started, or a mistake.
func FuzzDefinition(f *testing.F) {
	f.Add([]byte(twoSteps))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, dir := open(t)
		write(t, dir, "workflows/f.json", string(data))
		list, mistakes := w.Definitions(t.Context())
		if len(mistakes) == 1 {
			if sequent.CodeOf(mistakes[0]) != workflow.CodeBadDefinition || !strings.HasPrefix(mistakes[0].Error(), "workflows/f.json: ") {
				t.Fatalf("got %v", mistakes[0])
			}
			return
		}
		for _, d := range list {
			r := must(t)(w.Start(t.Context(), workflow.Plan{Queue: []string{d.ID}}))
			if s := r.Next; s == nil || s.Name != d.Steps[0].Name {
				t.Fatalf("got %+v", r)
			}
			must(t)(w.Advance(t.Context(), r.ID, workflow.Answer{Response: "[[x]]"}))
		}
	})
}
