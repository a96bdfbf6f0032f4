package command

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/durable"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

var hooks = []string{"session-start", "post-tool-use"}

// A hookEvent is what a client sends to a hook. The fields are those of Claude Code's hooks,
// which Codex has too.
type hookEvent struct {
	Conversation string          `json:"session_id"` // the client's session
	Source       string          `json:"source"`     // why a session starts: startup, resume, clear or compact
	Tool         string          `json:"tool_name"`
	Input        hookInput       `json:"tool_input"`
	Response     json.RawMessage `json:"tool_response"`
}

// A hookInput is the arguments of a call of a thinking tool.
type hookInput struct {
	SessionID sequent.ID `json:"sessionId"`
	InStatus  sequent.ID `json:"session_id"` // as the dialect status has it
}

// runHook is for clients, not for people: a mistake must not disturb a conversation, so
// the exit code is always 0.
func runHook(p *program, ctx context.Context) (result, error) {
	if !slices.Contains(hooks, p.args[0]) {
		return nil, invalid("the hook", p.args[0], "session-start or post-tool-use")
	}
	text, err := p.remember(ctx, p.args[0])
	if err != nil {
		p.tell("sequent hook: %v", err)
	}
	if text == "" {
		return nil, nil
	}
	return document(printable.Text(text) + "\n"), nil
}

// remember notes which session a conversation thinks in, or returns what it came to if the client has lost the
// context: after a compaction or when a conversation is resumed, but not after a clear, which asks to forget.
func (p *program) remember(ctx context.Context, name string) (text string, err error) {
	const maxInput = 16 << 20 // bytes; it has the reply of a tool
	input, err := io.ReadAll(io.LimitReader(p.in, maxInput))
	if err != nil {
		return "", err
	}
	var event hookEvent
	if err := json.Unmarshal(input, &event); err != nil || event.Conversation == "" {
		return "", fmt.Errorf("the input is not an event of a hook: %w", cmp.Or(err, errors.New("it has no session_id")))
	}
	data, err := app.DataDir()
	if err != nil {
		return "", err
	}
	known := conversations{dir: filepath.Join(data, "conversations"), now: time.Now}
	if name == "post-tool-use" {
		if id := event.session(); id != "" {
			return "", known.remember(event.Conversation, id)
		}
		return "", nil
	}
	id := known.session(event.Conversation)
	if id == "" || event.Source != "compact" && event.Source != "resume" {
		return "", nil
	}
	err = p.with(ctx, storeOrServer, func() error {
		s, err := p.engine.Session(ctx, id)
		if err != nil {
			return err
		}
		text = fmt.Sprintf("This conversation thinks in the session %s of the tool sequentialthinking: pass it as sessionId to go on, "+
			"and call recall_thinking with it for more. What it came to:\n", id)
		came, _, err := brief.Write(ctx, s, 1500*bytesPerToken-len(text))
		text += came
		return err
	})
	if sequent.CodeOf(err) == sequent.CodeSessionNotFound { // deleted
		err = nil
	}
	return text, err
}

// thinkingTool matches the names of thinking tools; clients put the server's name before
// them. sessionIn matches the first session id in a reply, also in JSON within strings.
var (
	thinkingTool = lazyregexp.New(`(^|__|[./:])sequential_?thinking(_external)?$`)
	sessionIn    = lazyregexp.New(`"session(?:Id|_id)\\*"\s*:\s*\\*"([^"\\]+)`)
)

// session returns the session that a call of a thinking tool was recorded in, or "".
func (e *hookEvent) session() sequent.ID {
	if !thinkingTool().MatchString(e.Tool) {
		return ""
	}
	if found := sessionIn().FindSubmatch(e.Response); found != nil {
		return sequent.ID(found[1])
	}
	return cmp.Or(e.Input.SessionID, e.Input.InStatus)
}

// conversations remembers which session each conversation of clients thinks in: a file
// with its id, readable by its owner.
type conversations struct {
	dir string
	now func() time.Time
}

// remember records that a conversation thinks in a session now, and removes what was not
// used for 30 days.
func (c conversations) remember(conversation string, id sequent.ID) (err error) {
	file := c.file(conversation)
	if c.session(conversation) == id {
		return os.Chtimes(filepath.Join(c.dir, file), time.Time{}, c.now())
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	files, _ := fs.ReadDir(root.FS(), ".")
	for _, f := range files {
		if info, err := f.Info(); err == nil && c.now().Sub(info.ModTime()) > 30*day {
			_ = root.Remove(f.Name()) // or later
		}
	}
	return durable.WriteFile(root, file, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, string(id))
		return err
	})
}

// session returns the session of a conversation; empty if none is known.
func (c conversations) session(conversation string) sequent.ID {
	id, _ := os.ReadFile(filepath.Join(c.dir, c.file(conversation)))
	return sequent.ID(id)
}

// file returns the name of a conversation's file.
func (conversations) file(conversation string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(conversation)))
}
