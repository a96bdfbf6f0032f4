package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// pieces is what the tool of typist says, and its number.
const pieces, piecesText = 300, "word <%d> 語\n"

// typist has a tool that produces a text in many pieces.
func typist(pause time.Duration) *Server {
	return New(Config{Dialect: dialect.Dialect{Name: "workshop", Tools: []tool.Tool{{
		Spec: tool.Spec{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Call: func(_ context.Context, c tool.Call) (tool.Reply, error) {
			if c.Text == nil {
				return tool.Reply{Text: "unasked"}, nil
			}
			c.Progress("waiting", 0, 0)
			for i := range pieces {
				c.Text(fmt.Sprintf(piecesText, i))
				time.Sleep(pause)
			}
			return tool.Reply{Text: "asked"}, nil
		},
	}}}})
}

// A heard is what a client has heard of a text.
type heard struct {
	t    *testing.T
	text strings.Builder
	n    int // notifications with text
	last float64
}

// take takes a line that is not the reply.
func (h *heard) take(line string) {
	h.t.Helper()
	var m struct {
		Method string
		Params struct {
			Meta     map[string]bool `json:"_meta"`
			Progress float64
			Message  string
		}
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Method != "notifications/progress" {
		h.t.Fatalf("got %s, %v", line, err)
	}
	if h.n > 0 && m.Params.Progress <= h.last {
		h.t.Errorf("progress %v comes after %v", m.Params.Progress, h.last)
	}
	h.last = m.Params.Progress
	if m.Params.Meta["dev.sequent/text"] {
		h.n++
		h.text.WriteString(m.Params.Message)
	}
}

// check checks that all text came, in no more than ten notifications a second.
func (h *heard) check(took time.Duration) {
	h.t.Helper()
	var want strings.Builder
	for i := range pieces {
		fmt.Fprintf(&want, piecesText, i)
	}
	if got := h.text.String(); got != want.String() {
		h.t.Errorf("the text is %d bytes, want %d", len(got), len(want.String()))
	}
	if most := 2 + int(took/(100*time.Millisecond)); h.n < 2 || h.n > most {
		h.t.Errorf("%d notifications in %v, want 2 to %d", h.n, took, most)
	}
}

// The text that a call produces reaches the client whole, in both eras, in at most ten
// notifications a second, before the reply.
//
// covers: 002/future-streaming
func TestTextOnStdio(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern=%t", modern), func(t *testing.T) {
			t.Parallel()
			p := dial(t, typist(time.Millisecond))
			p.open()
			start := time.Now()
			p.send(work(1, `"progressToken":"a"`, modern))
			h := &heard{t: t}
			for line := p.line(); !strings.Contains(line, `"asked"`); line = p.line() {
				h.take(line)
			}
			h.check(time.Since(start))
			p.send(work(2, ``, modern))
			if got := p.line(); !strings.Contains(got, `"unasked"`) {
				t.Errorf("without a token came %s", got)
			}
		})
	}
}
