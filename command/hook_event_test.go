package command

import (
	"fmt"
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
		`{"session_id":"c","tool_name":"mcp__sequent__sequentialthinking","tool_response":[{"type":"text","text":"{\"sessionId\":\"7k3\",\"thoughtNumber\":1}"}]}`: "7k3",
		`{"session_id":"c","tool_name":"mcp__plugin_sequent_sequent__sequentialthinking","tool_response":{"content":[],"structuredContent":{"sessionId":"7k3"}}}`:  "7k3",
		`{"session_id":"c","tool_name":"mcp__s__sequential_thinking","tool_response":"{\"session_id\":\"7k3\"}"}`:                                                  "7k3",
		`{"session_id":"c","tool_name":"sequentialthinking","tool_input":{"sessionId":"7k3"},"tool_response":"an error"}`:                                          "7k3",
		`{"session_id":"c","tool_name":"mcp__other__think","tool_response":{"sessionId":"7k3"}}`:                                                                   "",
		`{"session_id":"c","tool_name":"notsequentialthinking","tool_response":{"sessionId":"7k3"}}`:                                                               "",
		`{"session_id":"c","tool_name":"sequentialthinking","tool_response":{"sessionId":7}}`:                                                                      "",
		`{"session_id":"c","tool_name":"sequentialthinking"}`:                                                                                                      "",
		`{"session_id":"c","tool_name":"sequentialthinking","tool_response":[[[[[[[[[[{"sessionId":"deep"}]]]]]]]]]]}`:                                             "",
	} {
		e, err := parseHookEvent([]byte(input))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.session(); string(got) != want {
			t.Errorf("%s: session %q, want %q", input, got, want)
		}
	}
	for _, input := range []string{"", "[]", "{}", `{"session_id":1}`, `{"session_id":""}`} {
		if _, err := parseHookEvent([]byte(input)); err == nil {
			t.Errorf("parseHookEvent(%q) has no error", input)
		}
	}
}

func TestConversations(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := conversations{dir: t.TempDir(), now: func() time.Time { return now }}
	remember := func(conversation, id string) {
		t.Helper()
		if err := c.remember(conversation, sequent.ID("s"+id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"1", "2", "3", "1", "4", "5", "6", "6"} {
		remember("a", id)
	}
	remember("../b", "9")
	for conversation, want := range map[string]string{"a": "[s6 s5 s4 s1 s3]", "../b": "[s9]", "c": "[]"} {
		if got, err := c.sessions(conversation); err != nil || fmt.Sprint(got) != want {
			t.Errorf("sessions of %s: %v, %v, want %s", conversation, got, err, want)
		}
	}
	files, err := filepath.Glob(filepath.Join(c.dir, conversationFolder, "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if info, err := os.Stat(files[0]); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	now = now.Add(31 * 24 * time.Hour)
	remember("d", "1")
	if files, _ := filepath.Glob(filepath.Join(c.dir, conversationFolder, "*")); len(files) != 1 {
		t.Errorf("after a month there are the files %v", files)
	}
}
