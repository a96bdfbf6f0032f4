package workflow_test

import (
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
		if d.Description == "" || d.Emoji == "" || len(d.Triggers) < 4 || len(d.Steps) < 5 || !d.Enhanced {
			t.Errorf("%s is incomplete", d.ID)
		}
		if !slices.ContainsFunc(d.Steps, func(s workflow.Step) bool { return s.Enhanced }) {
			t.Errorf("%s asks for no session of sequential thinking", d.ID)
		}
		for _, s := range d.Steps {
			if n := utf8.RuneCountInString(s.Description); n < 100 || n > 700 || s.ID == "" {
				t.Errorf("%s, %s: the description has %d characters", d.ID, s.ID, n)
			}
			if s.Enhanced != strings.Contains(s.Description, "sequential_thinking") && s.ID != "attack" {
				t.Errorf("%s, %s: what it says and requiresEnhancedThinking differ", d.ID, s.ID)
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
	write(t, dir, "workflows/zz.json", twoSteps)
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
		"i-twice.json":   `{"id": "i", "name": "I", "steps": [{"name": "a", "id": "x"}, {"name": "b", "id": "x"}]}`,
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
		if d.ID == "design" && (d.Name != "Mine" || d.File != "workflows/design.json") {
			t.Errorf("design is %+v", d)
		}
	}
	if want := []string{"debugging", "decision", "design", "planning", "release", "research", "retrospective"}; !slices.Equal(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
	var said []string
	for _, m := range mistakes {
		if sequent.CodeOf(m) != workflow.CodeBadDefinition {
			t.Errorf("%v has no code", m)
		}
		said = append(said, m.Error())
	}
	want := []string{
		"workflows/a-empty.json: line 1 is not JSON (EOF): correct the JSON there",
		"workflows/b-broken.json: line 3 is not JSON (invalid character '}' looking for beginning of value): correct the JSON there",
		"workflows/c-list.json: it is of the type array: write an object in braces there",
		"workflows/d-type.json: steps.name: it is of the type number: write text in quotes there",
		"workflows/e-steps.json: steps: it is of the type object: write a list in brackets there",
		"workflows/f-flag.json: steps.requiresEnhancedThinking: it is of the type string: write true or false there",
		`workflows/g-id.json: id: "../g" cannot be an id: use letters, digits, - and _, at most 100 of them`,
		`workflows/h-noname.json: steps[1].name: it is missing or empty: add one, such as "name": "Write the notes"`,
		`workflows/i-twice.json: steps[1].id: "x" is already the id of steps[0]: use another id`,
		"workflows/j-more.json: there is text after the definition: write one definition per file",
		`workflows/l-noid.json: id: it is missing or empty: add one, such as "id": "release"`,
		`workflows/m-nosteps.json: steps: it is missing or empty: add some, such as "steps": [{"name": "Write the notes", "description": "…"}]`,
		`workflows/zz.json: id: workflows/release.json has the same id "release": use another id`,
	}
	for i := range max(len(said), len(want)) {
		var got, wanted string
		if i < len(said) {
			got = said[i]
		}
		if i < len(want) {
			wanted = want[i]
		}
		if got != wanted {
			t.Errorf("got\n%s\nwant\n%s", got, wanted)
		}
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
		i := slices.IndexFunc(list, func(d workflow.Definition) bool { return d.File != "" })
		if len(mistakes) > 0 || i < 0 {
			t.Fatalf("got %v, %v", list, mistakes)
		}
		r, err := w.Start(t.Context(), workflow.Plan{Queue: []string{list[i].ID}})
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := r.Next(); !ok || s.Name != list[i].Steps[0].Name {
			t.Fatalf("got %+v", r)
		}
		if _, err := w.Advance(t.Context(), r.ID, workflow.Answer{Response: "[[x]]"}); err != nil {
			t.Fatal(err)
		}
	})
}
