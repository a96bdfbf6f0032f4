package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// workshop has one tool, which reports now and then what it does, and some things
// that it should not. What it leaves behind reports later.
func workshop(left *func(string, float64, float64)) *Server {
	return New(Config{Dialect: dialect.Dialect{Name: "workshop", Tools: []tool.Tool{{
		Spec: tool.Spec{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)},
		Call: func(_ context.Context, c tool.Call) (tool.Reply, error) {
			if c.Progress == nil {
				return tool.Reply{Text: "unasked"}, nil
			}
			c.Progress("reading <a>\n", 0, 3)
			c.Progress("once more", 0, 3)
			c.Progress("", 0.5, 0)
			c.Progress("back", 0.25, 3)
			c.Progress("lost", math.NaN(), 3)
			c.Progress("lost", math.Inf(1), 3)
			c.Progress("done \xff", 3, math.Inf(1))
			*left = c.Progress
			return tool.Reply{Text: "asked"}, nil
		},
	}}}})
}

// reports returns what workshop says before its reply.
func reports(token string) []string {
	head := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":`
	return []string{
		head + `0,"total":3,"message":"reading <a>\n"}}`,
		head + `0.5}}`,
		head + `3,"message":"done \ufffd"}}`,
	}
}

// work returns a call of workshop's tool, with a member of _meta.
func work(id int, meta string, modern bool) string {
	if modern {
		meta += `,` + strings.TrimSuffix(strings.TrimPrefix(modernMeta, `"_meta":{`), `}`)
	}
	return callWith(fmt.Sprint(id), `"name":"work","_meta":{`+strings.TrimPrefix(meta, ",")+`}`)
}

func TestProgressOnStdio(t *testing.T) {
	t.Parallel()
	for _, modern := range []bool{false, true} {
		var left func(string, float64, float64)
		p := dial(t, workshop(&left))
		p.open()
		for i, token := range []string{`"a"`, `7`, `9007199254740993`, `"\u0041"`, `7`} {
			p.send(work(i, `"progressToken":`+token, modern))
			for _, want := range reports(token) {
				p.want(want)
			}
			if got := p.line(); !strings.Contains(got, `"text":"asked"`) {
				t.Errorf("after the reports came %s", got)
			}
			left("late", 100, 100)
		}
		for _, meta := range []string{``, `"progressToken":null`, `"progressToken":{}`} {
			p.send(work(9, meta, modern))
			if got := p.line(); !strings.Contains(got, `"text":"unasked"`) {
				t.Errorf("to a call with _meta %s came %s", meta, got)
			}
		}
	}
}

func TestProgressOverHTTP(t *testing.T) {
	t.Parallel()
	var left func(string, float64, float64)
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{workshop(&left)}})
	session := w.handshake("/mcp/workshop")
	for _, modern := range []bool{false, true} {
		head := "POST /mcp/workshop\n"
		if modern {
			head += "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: work\n"
		} else {
			head += "Mcp-Session-Id: " + session + "\n"
		}
		for _, token := range []string{`"a"`, `9007199254740993`} {
			call := work(1, `"progressToken":`+token, modern)
			a := w.want(head+"\n"+call, http.StatusOK)
			var got []string
			next := events(strings.NewReader(a.body))
			for e, err := next(); err == nil; e, err = next() {
				got = append(got, e)
			}
			want := reports(token)
			if len(got) != len(want)+1 || !slices.Equal(got[:len(want)], want) || !strings.Contains(got[len(want)], `"asked"`) {
				t.Errorf("modern %t: events are\n%s\nwant\n%s\nand the reply", modern, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			left("late", 100, 100)
			// A client that does not accept events gets only the reply.
			a = w.want(head+"Accept: application/json\n\n"+call, http.StatusOK, `"unasked"`)
			if strings.Contains(a.body, "progress") {
				t.Errorf("modern %t: who does not accept events gets %s", modern, a.body)
			}
		}
		w.want(head+"\n"+work(1, ``, modern), http.StatusOK, `"unasked"`)
	}
}

// The text that a call produces reaches the client whole, in at most ten notifications a second, before the reply.
func TestText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		p := dial(t, New(Config{Dialect: dialect.Dialect{Name: "typist", Tools: []tool.Tool{{
			Spec: tool.Spec{Name: "work", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Call: func(_ context.Context, c tool.Call) (tool.Reply, error) {
				c.Progress("waiting", 0, 0)
				for i := range 300 {
					piece := fmt.Sprintf("word <%d> 語\n", i)
					said.WriteString(piece)
					c.Text(piece)
					time.Sleep(3 * time.Millisecond)
				}
				return tool.Reply{Text: "asked"}, nil
			},
		}}}}))
		p.open()
		p.send(work(1, `"progressToken":"a"`, true))
		var heard strings.Builder
		n, last := 0, -1.0
		for line := p.line(); !strings.Contains(line, `"asked"`); line = p.line() {
			var m struct {
				Params struct {
					Meta     map[string]bool `json:"_meta"`
					Progress float64
					Message  string
				}
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil || m.Params.Progress <= last {
				t.Fatalf("after progress %v came %s, %v", last, line, err)
			}
			if last = m.Params.Progress; m.Params.Meta["dev.sequent/text"] {
				n++
				heard.WriteString(m.Params.Message)
			}
		}
		if heard.String() != said.String() || n < 9 || n > 11 {
			t.Errorf("in %d notifications came %d bytes of text, want %d in 0.9 seconds", n, heard.Len(), said.Len())
		}
		_ = p.in.Close()
		p.ended()
	})
}
