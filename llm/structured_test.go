package llm_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

type verdict struct {
	Thought    string  `json:"thought"`
	Confidence float64 `json:"confidence"`
}

var verdictSchema = llm.Schema{Name: "verdict", JSON: json.RawMessage(`{
	"type": "object",
	"properties": {"thought": {"type": "string", "minLength": 1}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}},
	"required": ["thought", "confidence"], "additionalProperties": false
}`)}

func TestStructured(t *testing.T) {
	const good = `{"thought": "the {pool}", "confidence": 0.5}`
	tests := []struct {
		name    string
		answers []string
		asked   int // number of requests
		bad     bool
		hint    string // a part of the message before the second attempt
	}{
		{"plain", []string{good}, 1, false, ""},
		{"fenced", []string{"```json\n" + good + "\n```"}, 1, false, ""},
		{"fence without an end", []string{"```\n" + good}, 1, false, ""},
		{"inside prose", []string{"Sure! Here {it} is: " + good + " — does {that} help?"}, 1, false, ""},
		{"after an object that does not match", []string{`{"example": 1} ` + good}, 1, false, ""},
		{"malformed, then good", []string{`{"thought": "x", "confidence": `, good}, 2, false, "malformed or incomplete"},
		{"prose, then good", []string{"I'd say the pool.", good}, 2, false, "no JSON object"},
		{"out of range, then good", []string{`{"thought": "x", "confidence": 7}`, good}, 2, false, "does not fit the schema"},
		{"an array, then good", []string{`["x", 0.5]`, good}, 2, false, "no JSON object"},
		{"nothing, then good", []string{"", good}, 2, false, "no JSON object"},
		{"never", []string{"no", "no", good}, 2, true, ""},
		{"never, with many braces", []string{strings.Repeat("{", 1<<20), strings.Repeat("{\"a\":", 1<<16)}, 2, true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var script []llmtest.Turn
			for _, a := range tt.answers {
				script = append(script, llmtest.Say(a))
			}
			m := llmtest.New(script...)
			question := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Why?"}}}
			got, last, err := llm.Structured[verdict](t.Context(), m, question, verdictSchema)
			if tt.bad {
				if llm.CodeOf(err) != llm.CodeBadAnswer || errors.Unwrap(err) == nil {
					t.Errorf("got %+v and %v", got, err)
				}
			} else if err != nil || got != (verdict{"the {pool}", 0.5}) {
				t.Errorf("got %+v and %v", got, err)
			}
			requests := m.Requests()
			if len(requests) != tt.asked || last.Usage.Input != 10*tt.asked {
				t.Fatalf("got %d requests with usage %+v, want %d", len(requests), last.Usage, tt.asked)
			}
			if requests[0].Schema == nil || len(question.Messages) != 1 {
				t.Errorf("first request is %+v, want a schema and an unchanged question", requests[0])
			}
			if tt.hint != "" {
				m := requests[1].Messages
				last := m[len(m)-1]
				if last.Role != llm.User || !strings.Contains(last.Text, tt.hint) || tt.answers[0] != "" && m[1].Text != tt.answers[0] {
					t.Errorf("second request is %+v, want %q in it", m, tt.hint)
				}
			}
		})
	}
}

func TestStructuredPassesErrorsOn(t *testing.T) {
	want := &llm.Error{Code: llm.CodeBadKey, Msg: "no"}
	m := llmtest.New(llmtest.Turn{Err: want})
	if _, _, err := llm.Structured[verdict](t.Context(), m, llm.Request{}, verdictSchema); !errors.Is(err, want) || len(m.Requests()) != 1 {
		t.Errorf("got %v after %d requests", err, len(m.Requests()))
	}
}

// Structured never panics, and what it returns matches the schema.
func FuzzStructured(f *testing.F) {
	f.Add(`{"thought":"a","confidence":1}`)
	f.Add("```json\n{\"thought\":\"a\",\"confidence\":0}```")
	f.Add(`{{{"thought":{}}}}`)
	f.Fuzz(func(t *testing.T, answer string) {
		m := llmtest.New(llmtest.Say(answer), llmtest.Say(answer))
		got, _, err := llm.Structured[verdict](t.Context(), m, llm.Request{}, verdictSchema)
		if err == nil && (got.Thought == "" || got.Confidence < 0 || got.Confidence > 1) {
			t.Errorf("%q gives %+v", answer, got)
		}
		if err != nil && llm.CodeOf(err) != llm.CodeBadAnswer {
			t.Errorf("%q: %v", answer, err)
		}
	})
}
