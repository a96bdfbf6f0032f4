package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
)

// fixtures are those of the suite that a dialect can have: its tools answer with
// text, and ask a client nothing.
var fixtures = []string{
	"test_simple_text", "test_error_handling", "test_tool_with_progress",
	"test://static-text", "test://template/123/data", "test://watched-resource",
	"test_simple_prompt", "test_prompt_with_arguments",
}

// TestFixtures runs the suite against a dialect with its fixtures. Expected to fail
// is what needs images, sound, embedded resources, logging or questions to the
// client, which no dialect has.
func TestFixtures(t *testing.T) {
	t.Parallel()
	node := needSuite(t)
	h, err := mcpserver.NewHTTP(mcpserver.HTTPConfig{
		Servers: []*mcpserver.Server{mcpserver.New(mcpserver.Config{Dialect: fixtureDialect()})}, Rate: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil { // it is bounded by HTTPConfig.Grace
			t.Errorf("Serve = %v, want nil", err)
		}
	})
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			run(t, node, "http://"+l.Addr().String()+"/mcp", revision, fixtures)
		})
	}
}

func fixtureDialect() dialect.Dialect {
	object := json.RawMessage(`{"type":"object"}`)
	add := func(name string, call func(context.Context, tool.Call) (tool.Reply, error)) tool.Tool {
		return tool.Tool{Spec: tool.Spec{Name: name, Description: "Fixture " + name + ".", InputSchema: object}, Call: call}
	}
	says := func(reply tool.Reply) func(context.Context, tool.Call) (tool.Reply, error) {
		return func(context.Context, tool.Call) (tool.Reply, error) { return reply, nil }
	}
	complete := func(context.Context, tool.Caller, string) ([]string, error) { return []string{"paris"}, nil }
	return dialect.Dialect{
		Name: "conformance",
		Tools: []tool.Tool{
			add("test_simple_text", says(tool.Reply{Text: "This is a simple text response for testing."})),
			add("test_error_handling", says(tool.Reply{Text: "This tool intentionally returns an error for testing", Failed: true})),
			add("test_tool_with_progress", func(_ context.Context, c tool.Call) (tool.Reply, error) {
				for i := range 3 {
					if c.Progress != nil {
						c.Progress("", float64(50*i), 100)
					}
					time.Sleep(50 * time.Millisecond) // as the suite wants it
				}
				return tool.Reply{Text: "progressed"}, nil
			}),
		},
		Resources: []dialect.Resource{{
			URI: "test://static-text", Name: "text", Description: "Fixture.", MIME: "text/plain",
			Read: func(context.Context, tool.Caller) (string, error) {
				return "This is the content of the static text resource.", nil
			},
		}},
		Templates: []dialect.Template{
			{
				URI: "test://template/{id}/data", Name: "template", Description: "Fixture.", MIME: "application/json",
				Read: func(_ context.Context, _ tool.Caller, id string) (string, error) {
					return fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id), nil
				},
			},
			{
				URI: "test://{name}", Name: "watched", Description: "Fixture.", MIME: "text/plain",
				Read: func(_ context.Context, _ tool.Caller, name string) (string, error) {
					if name != "watched-resource" {
						return "", sequent.ErrNotFound
					}
					return "It is watched.", nil
				},
				Watch: func(_ context.Context, _ tool.Caller, name string, _ func(gone bool)) (func(), error) {
					if name != "watched-resource" {
						return nil, sequent.ErrNotFound
					}
					return func() {}, nil
				},
			},
		},
		Prompts: []dialect.Prompt{
			{Name: "test_simple_prompt", Description: "Fixture.", Get: func(context.Context, tool.Caller, map[string]string) (string, error) {
				return "This is a simple prompt for testing.", nil
			}},
			{
				Name: "test_prompt_with_arguments", Description: "Fixture.",
				Arguments: []dialect.Argument{{Name: "arg1", Required: true, Complete: complete}, {Name: "arg2", Required: true}},
				Get: func(_ context.Context, _ tool.Caller, args map[string]string) (string, error) {
					if args["arg1"] == "" {
						return "", errors.New("arg1 is empty")
					}
					return fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]), nil
				},
			},
		},
	}
}
