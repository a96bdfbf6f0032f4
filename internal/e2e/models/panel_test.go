package models

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent/internal/e2e/programtest"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// A panellist is a model that answers by perspective and step.
type panellist struct {
	server *llmtest.Server
	mu     sync.Mutex
	asked  map[string]int
}

func newPanellist(t *testing.T) *panellist {
	p := &panellist{asked: make(map[string]int)}
	p.server = llmtest.ServeFunc(t, func(_ int, r llmtest.Request) llmtest.Reply {
		name, step := "synthesis", 1
		if _, rest, ok := strings.Cut(r.Messages[0].Content, "Your perspective is "); ok {
			name, _, _ = strings.Cut(rest, ".")
		}
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				step++
			}
		}
		p.mu.Lock()
		p.asked[fmt.Sprint(name, " ", step)]++
		p.mu.Unlock()
		switch {
		case name == "synthesis":
			return llmtest.Reply{Turn: llmtest.Say(`{"answer":"Move the check.","points":[{"text":"So.","refs":["critical#2"]}]}`)}
		case step == 1:
			return llmtest.Reply{Turn: llmtest.Turn{Calls: []llm.Call{{ID: "a", Name: "record_thought", Args: `{"thought":"of ` + name + `"}`}}}}
		}
		return llmtest.Reply{Turn: llmtest.Say("answer of " + name)}
	})
	return p
}

func (p *panellist) command(program, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, append(args, "--json", "--model", "gpt-4o", "--store", filepath.Join(dir, "store.db"))...)
	cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+p.server.URL, "OPENAI_API_KEY="+key)
	return cmd
}

// A panel that is killed after any event is resumed by another process. What a killed
// process said is not asked again, and no thought is recorded twice.
func TestPanelAfterKill(t *testing.T) {
	t.Parallel()
	program := programtest.Build(t)
	for n := range 13 { // events without the last one
		p, dir := newPanellist(t), t.TempDir()
		s := &scenario{program: program, dir: dir}
		left := n + 1
		seen := s.run(t, p.command(program, dir, "think", "--panel", "Orders time out."), func(event) bool { left--; return left == 0 }, nil)
		thoughts := 0
		for _, e := range seen {
			if e.Event == "thought" {
				thoughts++
			}
		}
		s.run(t, p.command(program, dir, "think", "resume", seen[0].Session), nil, nil)
		list := string(programtest.Output(t, exec.Command(program, "show", seen[0].Session, "--json", "--store", filepath.Join(dir, "store.db"))))
		for _, text := range []string{`"of critical"`, `"answer of creative"`, `"of factual"`, `"answer of optimistic"`} {
			if strings.Count(list, text) != 1 {
				t.Errorf("killed after %d events: %s is recorded %d times", n+1, text, strings.Count(list, text))
			}
		}
		again := 0
		p.mu.Lock()
		for _, times := range p.asked {
			again += times - 1
		}
		asked := len(p.asked)
		p.mu.Unlock()
		// At the kill each perspective has at most one request without a stored answer.
		if asked != 9 || again > 4 || thoughts == 9 && again > 1 {
			t.Errorf("killed after %d events with %d thoughts: %d requests, %d again", n+1, thoughts, asked, again)
		}
	}
}
