package status

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAnswers(t *testing.T) {
	const none = -1
	tests := []struct {
		text, thought string
		confidence    float64
	}{
		{`{"thought":"a","confidence":0.25}`, "a", 0.25},
		{`{"thought":" a\n","confidence":1}`, "a", 1},
		{`{"thought":"a","confidence":"0"}`, "a", 0},
		{`{"thought":"a","confidence":1.01}`, "a", none},
		{`{"thought":"a","confidence":-0.1}`, "a", none},
		{`{"thought":"a","confidence":null}`, "a", none},
		{`{"thought":"a","confidence":"high"}`, "a", none},
		{`{"thought":"a","confidence":"NaN"}`, "a", none},
		{`{"thought":"a"}`, "a", none},
		{"```json\n{\"thought\":\"a\",\"confidence\":0.5}\n```", "a", 0.5},
		{"Sure!\n{\"thought\":\"a\",\"confidence\":0.5} Good luck.", "a", 0.5},
		{"Just words.", "Just words.", none},
		{"Words with {braces} in them.", "Words with {braces} in them.", none},
		{`Look at {"retries": 3} first.`, `Look at {"retries": 3} first.`, none},
		{"", "", 0},
		{" \n", "", 0},
		{`{"thought":""}`, "", 0},
		{`{"thought":7}`, "", 0},
		{`{"idea":"a"}`, "", 0},
		{`{"thought":"a`, "", 0},
		{strings.Repeat("a", 101), "", 0},
		{`{"thought":"` + strings.Repeat("a", 101) + `"}`, "", 0},
	}
	for _, tt := range tests {
		thought, confidence, err := Answer{Text: tt.text}.read(100)
		if (err != nil) != (tt.thought == "") || thought != tt.thought {
			t.Errorf("%q is read as %q, %v; want %q", tt.text, thought, err, tt.thought)
			continue
		}
		if err == nil && (confidence == nil) != (tt.confidence == none) || confidence != nil && *confidence != tt.confidence {
			t.Errorf("%q has the confidence %v, want %v", tt.text, confidence, tt.confidence)
		}
	}
}

// FuzzAnswers parses any answer of a model.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{`{"thought":"a","confidence":0.5}`, "```\n{\"thought\":1}", "words", "{", `{"thought":"","confidence":1e999}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		thought, confidence, err := Answer{Text: text}.read(1000)
		if err == nil && (thought == "" || len(thought) > 1000 || utf8.ValidString(text) && !utf8.ValidString(thought)) {
			t.Errorf("%q is read as %q", text, thought)
		}
		if confidence != nil && !(*confidence >= 0 && *confidence <= 1) {
			t.Errorf("%q has the confidence %v", text, *confidence)
		}
	})
}

// The form meets the rules of providers that enforce a schema.
func TestForm(t *testing.T) {
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
		Additional *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal([]byte(form), &schema); err != nil {
		t.Fatal(err)
	}
	if len(schema.Required) != len(schema.Properties) || schema.Additional == nil || *schema.Additional {
		t.Errorf("the form is %s", form)
	}
}
