package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// If the model rejects response_format, the schema goes into the prompt.
func TestRejectedSchema(t *testing.T) {
	for _, no := range []llmtest.Reply{
		{Status: 400, Body: `{"error":{"message":"'response_format' of type 'json_schema' is not supported with this model","param":"response_format"}}`},
		{Status: 404, Body: `{"error":{"message":"No endpoints found that can handle the requested parameters","code":404}}`},
	} {
		s := serve(no, llmtest.Reply{Turn: llmtest.Say("Sure:\n```json\n{\"n\": 7}\n```")})
		r := ask("?")
		r.Schema = &llm.Schema{Name: "answer", JSON: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}
		if _, err := answerOf(t.Context(), s.connect(t, "a/b"), r); err != nil {
			t.Fatal(err)
		}
		if b := s.body(t, 1); b["response_format"] != nil || b["provider"] != nil || !strings.Contains(string(b["messages"]), "JSON Schema") {
			t.Errorf("second request is %s", s.Requests()[1].Body)
		}
	}
}

// A temperature that the model rejects is omitted in the retry and in later requests.
func TestRejectedTemperature(t *testing.T) {
	no := llmtest.Reply{Status: 400, Body: `{"error":{"message":"Unsupported value: 'temperature' does not support 0.7","param":"temperature","code":"unsupported_value"}}`}
	s := serve(no, llmtest.Reply{Turn: llmtest.Say("yes")}, llmtest.Reply{Turn: llmtest.Say("yes")}, no)
	c := s.connect(t, "some-new-model")
	r := ask("?")
	r.Temperature = new(0.7)
	for range 2 {
		if res, err := answerOf(t.Context(), c, r); err != nil || res.Message.Text != "yes" {
			t.Fatal(res, err)
		}
	}
	var sent []bool
	for _, req := range s.Requests() {
		sent = append(sent, strings.Contains(string(req.Body), `"temperature"`))
	}
	if len(sent) != 3 || !sent[0] || sent[1] || sent[2] {
		t.Errorf("requests with a temperature: %v, want only the first", sent)
	}
	if _, err := answerOf(t.Context(), c, r); llm.CodeOf(err) != llm.CodeRefused || len(s.Requests()) != 4 {
		t.Errorf("second rejection: got %v after %d requests", err, len(s.Requests()))
	}
}

// Images of results follow the results, in a message of their own. A model that cannot
// see is told that there are some.
func TestImages(t *testing.T) {
	s := serve(
		llmtest.Reply{Turn: llmtest.Say("A cat.")},
		llmtest.Reply{Status: 404, Body: `{"error":{"message":"No endpoints found that support image input"}}`},
		llmtest.Reply{Turn: llmtest.Say("I cannot see.")},
	)
	c := s.connect(t, "some-model")
	r := ask("?")
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "a", Name: "camera", Args: "{}"}, {ID: "b", Name: "look", Args: "{}"}}},
		llm.Message{Role: llm.Result, CallID: "a", Text: "Here.", Images: []llm.Image{{MediaType: "image/png", Data: []byte("png")}}},
		llm.Message{Role: llm.Result, CallID: "b", Text: "Nothing."},
	)
	for range 2 {
		if _, err := answerOf(t.Context(), c, r); err != nil {
			t.Fatal(err)
		}
	}
	const shown = `{"role":"tool","content":"Nothing.","tool_call_id":"b"},{"role":"user","content":[{"text":"The images of the message before, in order:","type":"text"},{"image_url":{"url":"data:image/png;base64,cG5n"},"type":"image_url"}]}]`
	if got := string(s.body(t, 0)["messages"]); !strings.HasSuffix(got, shown) {
		t.Errorf("sent %s", got)
	}
	if got := string(s.body(t, 2)["messages"]); strings.Contains(got, "base64") || !strings.Contains(got, "You cannot see") {
		t.Errorf("sent a model that cannot see %s", got)
	}
}
