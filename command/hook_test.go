package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

func TestHookSession(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"tool_name":"mcp__sequent__sequentialthinking","tool_response":[{"type":"text","text":"{\"sessionId\":\"7k3\",\"thoughtNumber\":1}"}]}`: "7k3",
		`{"tool_name":"mcp__plugin_sequent_sequent__sequentialthinking","tool_response":{"structuredContent":{"sessionId":"7k3"}}}`:               "7k3",
		`{"tool_name":"mcp__s__sequential_thinking","tool_response":"{\"session_id\": \"7k3\"}"}`:                                                 "7k3",
		`{"tool_name":"sequentialthinking","tool_input":{"thought":"\"sessionId\":\"x\"","sessionId":"7k3"},"tool_response":"an error"}`:          "7k3",
		`{"tool_name":"mcp__other__think","tool_response":{"sessionId":"7k3"}}`:                                                                   "",
		`{"tool_name":"notsequentialthinking","tool_response":{"sessionId":"7k3"}}`:                                                               "",
		`{"tool_name":"sequentialthinking","tool_response":{"sessionId":7}}`:                                                                      "",
		`{"tool_name":"sequentialthinking"}`: "",
	} {
		var e hookEvent
		if err := json.Unmarshal([]byte(input), &e); err != nil {
			t.Fatal(err)
		}
		if got := e.session(); string(got) != want {
			t.Errorf("%s: session %q, want %q", input, got, want)
		}
	}
}

func TestConversations(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := conversations{dir: filepath.Join(t.TempDir(), "new"), now: func() time.Time { return now }}
	files := func() (names []string) {
		names, _ = filepath.Glob(filepath.Join(c.dir, "*"))
		return names
	}
	for _, tt := range []struct {
		conversation string
		id           sequent.ID
	}{{"a", "s1"}, {"a", "s2"}, {"a", "s2"}, {"../b", "s9"}} {
		if err := c.remember(tt.conversation, tt.id); err != nil || c.session(tt.conversation) != tt.id || c.session("c") != "" {
			t.Errorf("session of %s: %s, want %s; of another conversation: %s, %v", tt.conversation, c.session(tt.conversation), tt.id, c.session("c"), err)
		}
	}
	if len(files()) != 2 {
		t.Fatalf("there are the files %v", files())
	}
	if info, err := os.Stat(files()[0]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	now = now.Add(31 * 24 * time.Hour)
	if err := c.remember("d", "s1"); err != nil || len(files()) != 1 {
		t.Errorf("after a month there are the files %v, %v", files(), err)
	}
}
