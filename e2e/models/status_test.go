package models

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/mcpserver/client"
)

// In the dialect status models write thoughts, over the protocol path of each
// provider: in the requested form, in prose, and at the second attempt.
func TestStatus(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	for name, p := range paths {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(program, "serve", "--dialect", "status", "--store", "memory", "--model", p.model)
			cmd.Env = append(cmd.Environ(), p.variable+"_BASE_URL="+fake(t)+p.base, p.variable+"_API_KEY="+key)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			c, err := client.Connect(t.Context(), cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := c.Close(); err != nil || stderr.Len() > 0 {
					t.Errorf("Close: %v; stderr %s", err, &stderr)
				}
			}()
			for i, want := range []struct {
				ask, content string
				confidence   float64 // 0 for none
			}{
				{"Where do orders wait?", "In the pool.", 0.8},
				{"Why do orders time out?", "The pool is empty at noon.", 0},
				{"Is it busy?", "Now I have time.", 0},
			} {
				reply, err := c.CallTool(t.Context(), "sequential_thinking_external", json.RawMessage(fmt.Sprintf(
					`{"thought":%q,"thought_number":1,"total_thoughts":3,"next_thought_needed":true,"session_id":"%d"}`, want.ask, i)))
				if err != nil {
					t.Fatalf("%s: %v", want.ask, err)
				}
				var got struct {
					Content    string   `json:"thought_content"`
					Model      string   `json:"model_used"`
					Confidence *float64 `json:"confidence"`
					Length     int      `json:"thought_history_length"`
				}
				if err := json.Unmarshal(reply.JSON, &got); err != nil {
					t.Fatal(err)
				}
				if got.Content != want.content || got.Model != p.model || got.Length != 1 ||
					(got.Confidence != nil) != (want.confidence > 0) || got.Confidence != nil && *got.Confidence != want.confidence {
					t.Errorf("%s: got %s", want.ask, reply.JSON)
				}
			}
		})
	}
}
