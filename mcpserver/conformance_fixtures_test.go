// What clients may still ask for is deprecated since 2026-07-28, and tested here.
//lint:file-ignore SA1019 the suite asks for logging, sampling and roots

package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/dialect"
)

// A fixture is a tool that the conformance suite calls by its name.
type fixture = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

// pixel is a PNG of one red pixel.
var pixel, _ = base64.StdEncoding.DecodeString(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")

// silence is a WAV without a sample.
var silence = []byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")

// newConformanceServer returns a server with what the suite wants to find: kinds
// of content, questions and notifications that no dialect has. It is built as New
// builds one, and then told more; that there is no way to do so from outside this
// package is on purpose.
func newConformanceServer() *Server {
	s := New(Config{Dialect: dialect.Dialect{Name: "conformance"}})
	fine := func(context.Context, *mcp.SubscribeRequest) error { return nil }
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "sequent-conformance", Version: "1"}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{
			Tools:       &mcp.ToolCapabilities{ListChanged: true},
			Prompts:     &mcp.PromptCapabilities{ListChanged: true},
			Resources:   &mcp.ResourceCapabilities{Subscribe: true},
			Logging:     &mcp.LoggingCapabilities{},
			Completions: &mcp.CompletionCapabilities{},
		},
		SetCacheable:       cacheable,
		SubscribeHandler:   fine,
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
	})
	s.mcp.AddReceivingMiddleware(s.receive)
	add := func(name, schema string, f fixture) {
		s.mcp.AddTool(&mcp.Tool{Name: name, Description: "Fixture " + name + ".", InputSchema: json.RawMessage(schema)}, f)
	}
	for name, f := range contentFixtures() {
		add(name, `{"type":"object"}`, f)
	}
	for name, f := range askingFixtures() {
		add(name, `{"type":"object"}`, f)
	}
	for name, f := range roundFixtures() {
		add(name, `{"type":"object"}`, f)
	}
	add("json_schema_2020_12_tool", schemaFixture, says("fine"))
	// Adding what is there is a change of the list, too.
	add("test_trigger_tool_change", `{"type":"object"}`, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("transient", `{"type":"object"}`, says("fine"))
		return says("changed")(ctx, r)
	})
	add("test_trigger_prompt_change", `{"type":"object"}`, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.mcp.AddPrompt(&mcp.Prompt{Name: "transient", Description: "Comes and goes."}, prompt(plain("fine")))
		return says("changed")(ctx, r)
	})
	addDocuments(s.mcp)
	return s
}

const schemaFixture = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},
"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
"additionalProperties":false}`

func plain(s string) mcp.Content { return &mcp.TextContent{Text: s} }

func embedded(uri, mime, s string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: s}}
}

// shows answers with content, says with a text.
func shows(c ...mcp.Content) fixture {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: c}, nil
	}
}

func says(s string) fixture { return shows(plain(s)) }

func contentFixtures() map[string]fixture {
	image := &mcp.ImageContent{Data: pixel, MIMEType: "image/png"}
	log := func(ctx context.Context, r *mcp.CallToolRequest, data string) {
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: data})
	}
	return map[string]fixture{
		"test_simple_text":       says("This is a simple text response for testing."),
		"test_image_content":     shows(image),
		"test_audio_content":     shows(&mcp.AudioContent{Data: silence, MIMEType: "audio/wav"}),
		"test_embedded_resource": shows(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
		"test_multiple_content_types": shows(plain("Multiple content types test:"), image,
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)),
		"test_error_handling": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{plain("This tool intentionally returns an error for testing")}}, nil
		},
		"test_tool_with_logging": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				if i > 0 {
					time.Sleep(50 * time.Millisecond) // as the suite wants it
				}
				log(ctx, r, line)
			}
			return says("logged")(ctx, r)
		},
		"test_tool_with_progress": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for i := range 3 {
				if i > 0 {
					time.Sleep(50 * time.Millisecond) // as the suite wants it
				}
				if token := r.Params.GetProgressToken(); token != nil {
					_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(50 * i), Total: 100})
				}
			}
			return says("progressed")(ctx, r)
		},
		"test_logging_tool": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			log(ctx, r, "said if asked for")
			return says("logged")(ctx, r)
		},
		"test_streaming_elicitation": says("a reply and nothing else"),
		"test_reconnection":          says("there was no need to reconnect"),
		"test_missing_capability": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if caps := r.ClientCapabilities(); caps != nil && caps.Sampling != nil {
				return says("declared")(ctx, r)
			}
			return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "this needs sampling",
				Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}
		},
	}
}

// askingFixtures ask older clients, in the middle of a call.
func askingFixtures() map[string]fixture {
	elicit := func(message, schema string) fixture {
		return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(schema)})
			if err != nil {
				return nil, err
			}
			content, err := json.Marshal(res.Content)
			if err != nil {
				return nil, err
			}
			return says(fmt.Sprintf("Elicitation completed: action=%s, content=%s", res.Action, content))(ctx, r)
		}
	}
	return map[string]fixture{
		"test_sampling": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var args struct {
				Prompt string `json:"prompt"`
			}
			if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
				return nil, err
			}
			res, err := r.Session.CreateMessage(ctx, question(args.Prompt, 100))
			if err != nil {
				return nil, err
			}
			return shows(plain("LLM response: "), res.Content)(ctx, r)
		},
		"test_elicitation": elicit("Please answer.", `{"type":"object","required":["username","email"],"properties":{
			"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}}}`),
		"test_elicitation_sep1034_defaults": elicit("Please check.", `{"type":"object","properties":{
			"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
			"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`),
		"test_elicitation_sep1330_enums": elicit("Please choose.", `{"type":"object","properties":{
			"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
			"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"}]}}}}`),
	}
}

func question(s string, most int64) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: most, Messages: []*mcp.SamplingMessage{{Role: "user", Content: plain(s)}}}
}

func form(message, field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: json.RawMessage(
		fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field))}
}

// A round is what a tool of the new era wants to know before it goes on.
type round mcp.InputRequestMap

// answered reports whether all that was asked has a proper answer.
func (r round) answered(got mcp.InputResponseMap) bool {
	for key, asked := range r {
		switch a := got[key].(type) {
		case *mcp.ElicitResult:
			if _, ok := asked.(*mcp.ElicitParams); !ok || a == nil || a.Action != "accept" || a.Content == nil {
				return false
			}
		case nil:
			return false
		}
	}
	return true
}

// seal makes a state that nobody else can make; unseal tells what is in it.
func seal(state string) string {
	mac := hmac.New(sha256.New, []byte("conformance"))
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

func unseal(sealed string) (string, error) {
	state, _, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(seal(state)), []byte(sealed)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not what this server gave"}
	}
	return state, nil
}

// inRounds asks one round after the other. With state, it says which is next in
// a sealed state; without, there is one round.
func inRounds(state bool, done fixture, rounds ...round) fixture {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		at := 0
		if s := r.Params.RequestState; s != "" {
			name, err := unseal(s)
			if err != nil {
				return nil, err
			}
			if _, err := fmt.Sscanf(name, "round %d", &at); err != nil || at >= len(rounds) {
				return nil, errors.New("no such round")
			}
		} else if state && r.Params.InputResponses != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is missing"}
		}
		if r.Params.InputResponses != nil && rounds[at].answered(r.Params.InputResponses) {
			at++
		}
		if at == len(rounds) {
			return done(ctx, r)
		}
		res := &mcp.CallToolResult{InputRequests: mcp.InputRequestMap(rounds[at])}
		if state {
			res.RequestState = seal(fmt.Sprint("round ", at))
		}
		return res, nil
	}
}

// roundFixtures ask clients of the new era, by a result that says what is wanted.
func roundFixtures() map[string]fixture {
	const prefix = "test_input_required_result_"
	name := form("What is your name?", "name", "string")
	confirm := round{"confirm": form("Please confirm", "ok", "boolean")}
	roots := &mcp.ListRootsParams{}
	return map[string]fixture{
		prefix + "elicitation": inRounds(false, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, _ := r.Params.InputResponses["user_name"].(*mcp.ElicitResult)
			return says(fmt.Sprintf("Hello, %v!", answer.Content["name"]))(ctx, r)
		}, round{"user_name": name}),
		prefix + "sampling":        inRounds(false, says("It is Paris."), round{"capital_question": question("What is the capital of France?", 100)}),
		prefix + "list_roots":      inRounds(false, says("There are roots."), round{"client_roots": roots}),
		prefix + "request_state":   inRounds(true, says("state-ok"), confirm),
		prefix + "tampered_state":  inRounds(true, says("state-ok"), confirm),
		prefix + "multiple_inputs": inRounds(true, says("all there"), round{"user_name": name, "greeting": question("Generate a greeting", 50), "client_roots": roots}),
		prefix + "multi_round": inRounds(true, says("both there"),
			round{"step1": form("Step 1: What is your name?", "name", "string")},
			round{"step2": form("Step 2: What is your favorite color?", "color", "string")}),
		prefix + "capabilities": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ask, caps := round{}, r.ClientCapabilities()
			if caps != nil && caps.Elicitation != nil {
				ask["user_name"] = name
			}
			if caps != nil && caps.Sampling != nil {
				ask["greeting"] = question("Generate a greeting", 50)
			}
			if len(ask) == 0 {
				return says("nothing can be asked")(ctx, r)
			}
			return inRounds(false, says("answered"), ask)(ctx, r)
		},
	}
}

func prompt(c ...mcp.Content) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		res := &mcp.GetPromptResult{}
		for _, c := range c {
			res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
		}
		return res, nil
	}
}

// addDocuments adds the resources and prompts.
func addDocuments(s *mcp.Server) {
	resource := func(uri, name, mime string, contents func(uri string) *mcp.ResourceContents) {
		read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := contents(r.Params.URI)
			c.URI, c.MIMEType = r.Params.URI, mime
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
		}
		if strings.Contains(uri, "{") {
			s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: uri, Name: name, Description: "Fixture.", MIMEType: mime}, read)
			return
		}
		s.AddResource(&mcp.Resource{URI: uri, Name: name, Description: "Fixture.", MIMEType: mime}, read)
	}
	words := func(s string) func(string) *mcp.ResourceContents {
		return func(string) *mcp.ResourceContents { return &mcp.ResourceContents{Text: s} }
	}
	resource("test://static-text", "text", "text/plain", words("This is the content of the static text resource."))
	resource("test://static-binary", "binary", "image/png", func(string) *mcp.ResourceContents { return &mcp.ResourceContents{Blob: pixel} })
	resource("test://watched-resource", "watched", "text/plain", words("It is watched."))
	resource("test://template/{id}/data", "template", "application/json", func(uri string) *mcp.ResourceContents {
		id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
		return &mcp.ResourceContents{Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id)}
	})

	add := func(name string, get mcp.PromptHandler, args ...string) {
		p := &mcp.Prompt{Name: name, Description: "Fixture " + name + "."}
		for _, a := range args {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Required: true})
		}
		s.AddPrompt(p, get)
	}
	add("test_simple_prompt", prompt(plain("This is a simple prompt for testing.")))
	add("test_prompt_with_image", prompt(&mcp.ImageContent{Data: pixel, MIMEType: "image/png"}, plain("Please analyze the image above.")))
	add("test_prompt_with_arguments", func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		a := r.Params.Arguments
		return prompt(plain(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"])))(ctx, r)
	}, "arg1", "arg2")
	add("test_prompt_with_embedded_resource", func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompt(embedded(r.Params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing."),
			plain("Please process the embedded resource above."))(ctx, r)
	}, "resourceUri")
	add("test_input_required_result_prompt", func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		ask := round{"user_context": form("What context should the prompt use?", "context", "string")}
		if !ask.answered(r.Params.InputResponses) {
			return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap(ask)}, nil
		}
		return prompt(plain("With context."))(ctx, r)
	})
}
