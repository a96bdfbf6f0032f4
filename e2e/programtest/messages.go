package programtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Messages answers a request as a model of the Messages API does, streamed or not: a model that
// finds the tool, calls it once with the given arguments and then ends. It answers other
// requests, such as for a title, with a text.
func Messages(w http.ResponseWriter, path string, body []byte, toolName, args string) {
	var request struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages json.RawMessage
	}
	if path != "/v1/messages" || json.Unmarshal(body, &request) != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	block, delta, reason := `{"type":"text","text":""}`, `{"type":"text_delta","text":"The thought is recorded."}`, "end_turn"
	offers := func(name string) bool {
		return slices.ContainsFunc(request.Tools, func(tool struct{ Name string }) bool { return tool.Name == name })
	}
	use := func(name, input string) {
		text, _ := json.Marshal(input)
		block = `{"type":"tool_use","id":"toolu_` + name + `","name":"` + name + `","input":{}}`
		delta, reason = `{"type":"input_json_delta","partial_json":`+string(text)+`}`, "tool_use"
	}
	done := string(request.Messages)
	switch {
	case strings.Contains(done, "toolu_"+toolName):
	case offers(toolName):
		use(toolName, args)
	case offers("ToolSearch") && !strings.Contains(done, "toolu_ToolSearch"): // tools of servers are found first
		use("ToolSearch", `{"query":"select:`+toolName+`"}`)
	}
	const usage = `{"input_tokens":1,"output_tokens":1}`
	message := `{"id":"msg_1","type":"message","role":"assistant","model":"claude-scripted","content":[],"stop_reason":null,"stop_sequence":null,"usage":` + usage + `}`
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, strings.NewReplacer(`"content":[]`, `"content":[{"type":"text","text":"A title"}]`, `"stop_reason":null`, `"stop_reason":"end_turn"`).Replace(message))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range [][2]string{
		{"message_start", `"message":` + message},
		{"content_block_start", `"index":0,"content_block":` + block},
		{"content_block_delta", `"index":0,"delta":` + delta},
		{"content_block_stop", `"index":0`},
		{"message_delta", `"delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":` + usage},
		{"message_stop", ""},
	} {
		data := `{"type":"` + e[0] + `"`
		if e[1] != "" {
			data += "," + e[1]
		}
		fmt.Fprintf(w, "event: %s\ndata: %s}\n\n", e[0], data)
	}
}
