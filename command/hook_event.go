package command

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/sequent-dev/sequent"
)

// A hookEvent is what a client sends to a hook. The fields are those of Claude Code's hooks,
// which Codex has too.
type hookEvent struct {
	Conversation string          `json:"session_id"` // the client's session
	Source       string          `json:"source"`     // why a session starts: startup, resume, clear or compact
	Tool         string          `json:"tool_name"`
	Input        json.RawMessage `json:"tool_input"`
	Response     json.RawMessage `json:"tool_response"`
}

func parseHookEvent(data []byte) (hookEvent, error) {
	var e hookEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return hookEvent{}, fmt.Errorf("the input is not an event of a hook: %w", err)
	}
	if e.Conversation == "" {
		return hookEvent{}, fmt.Errorf("the input has no session_id")
	}
	return e, nil
}

// lostContext reports whether the model may have lost what it knew: after a compaction
// or when a conversation is resumed, but not after a clear, which asks to forget.
func (e *hookEvent) lostContext() bool { return e.Source == "compact" || e.Source == "resume" }

// thinkingTool matches the names of thinking tools; clients put the server's name before
// them.
var thinkingTool = regexp.MustCompile(`(^|__|[./:])sequential_?thinking(_external)?$`)

// session returns the session that a call of a thinking tool was recorded in, or "".
func (e *hookEvent) session() sequent.ID {
	if !thinkingTool.MatchString(e.Tool) {
		return ""
	}
	if id := sessionIn(e.Response, 0); id != "" {
		return id
	}
	return sessionIn(e.Input, 0)
}

// sessionIn returns the first session id in a JSON value, also in JSON within strings,
// as the text of a reply is.
func sessionIn(data []byte, depth int) sequent.ID {
	const most = 8
	if depth > most {
		return ""
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			return ""
		}
		return sessionIn([]byte(text), depth+1)
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		for _, item := range list {
			if id := sessionIn(item, depth+1); id != "" {
				return id
			}
		}
		return ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return ""
	}
	for _, name := range []string{"sessionId", "session_id"} {
		if json.Unmarshal(object[name], &text) == nil && text != "" {
			return sequent.ID(text)
		}
	}
	for _, name := range []string{"structuredContent", "content", "text", "result", "output"} {
		if id := sessionIn(object[name], depth+1); id != "" {
			return id
		}
	}
	return ""
}
