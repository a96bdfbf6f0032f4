package tool_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/tool"
)

func ExampleNew() {
	spec := tool.Parse([]byte(`{
		"name": "shout",
		"title": "Shout",
		"inputSchema": {
			"type": "object",
			"properties": {
				"text": {"type": "string", "minLength": 1, "description": "what to shout"},
				"times": {"type": "integer", "minimum": 1, "description": "how often; once if left out"}
			},
			"required": ["text"]
		},
		"annotations": {"readOnlyHint": true}
	}`), []byte("Says it louder."))

	type args struct {
		Text  string `json:"text"`
		Times int    `json:"times,omitzero"`
	}
	shout := tool.New(spec,
		func(_ context.Context, _ tool.Call, in args) (tool.Reply, error) {
			text := strings.Repeat(strings.ToUpper(in.Text)+"! ", max(1, in.Times))
			return tool.Reply{Text: strings.TrimSpace(text)}, nil
		},
		func(e *tool.ArgumentError) (tool.Reply, error) {
			return tool.Refusal{Code: "INVALID_ARGUMENT", Field: e.Field, Message: e.Error()}.Reply(), nil
		})

	for _, args := range []string{`{"text": "hey", "times": "2"}`, `{"text": "hey", "times": "often"}`} {
		reply, err := shout.Call(context.Background(), tool.Call{Args: []byte(args)})
		if err != nil {
			fmt.Println("fault:", err)
		}
		fmt.Println(reply.Text)
	}
	// Output:
	// HEY! HEY!
	// INVALID_ARGUMENT: times is "often"; it must be a whole number of at least 1
}
