// Package statustest has a language model for tests of the dialect.
package statustest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sequent-dev/sequent/dialect/status"
)

// A Script is a model that writes its prompts to Out. The name of the model selects its
// answer.
type Script struct{ Out io.Writer }

// Write answers a prompt.
func (m Script) Write(_ context.Context, p status.Prompt) (status.Answer, error) {
	fmt.Fprintf(m.Out, "model %q, temperature %v\n%s\n", p.Model, p.Temperature, p.User)
	name := p.Model
	if name == "" {
		name = "configured"
	}
	answer := func(text string) (status.Answer, error) { return status.Answer{Text: text, Model: name}, nil }
	thought := fmt.Sprintf("What %s thinks.", name)
	switch p.Model {
	case "plain":
		return answer("  What I think, without a form.\n")
	case "fenced":
		return answer("Here it is:\n```json\n{\"thought\": \"In a fence.\", \"confidence\": \"0.5\"}\n```\n")
	case "unsure":
		return answer(`{"thought":"I cannot say how sure I am.","confidence":85}`)
	case "silent":
		return answer(" \n")
	case "empty":
		return answer(`{"thought":"","confidence":1}`)
	case "broken":
		return answer(`{"thought":"It ends in the mid`)
	case "long":
		return answer(strings.Repeat("a", 64<<10+1))
	case "keyless":
		return status.Answer{}, &status.ModelError{Setup: true, Msg: "OpenAI API key not configured", Err: errors.New("sk-secret")}
	case "down":
		return status.Answer{}, &status.ModelError{Msg: "the provider answered 503 three times", Err: errors.New("sk-secret")}
	}
	text, err := json.Marshal(struct {
		Thought    string  `json:"thought"`
		Confidence float64 `json:"confidence"`
	}{thought, 0.8})
	if err != nil {
		panic(err)
	}
	return answer(string(text))
}
