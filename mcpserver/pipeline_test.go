package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
)

// A gated store is a MemoryStore whose commits wait at a gate, once it is shut.
type gated struct {
	*sequent.MemoryStore
	gate    chan struct{} // each commit takes one; nil is open
	commits []int         // thoughts of each, for one session
}

func (g *gated) Commit(ctx context.Context, batch []*sequent.Write) error {
	if g.gate != nil {
		<-g.gate
	}
	n := 0
	for _, w := range batch {
		n += len(sequent.Thoughts(w.Entries))
	}
	g.commits = append(g.commits, n)
	return g.MemoryStore.Commit(ctx, batch)
}

// A line is one call of a pipelined client, and what its reply must hold.
type line struct{ args, want string }

func thinking(n int, more string) string {
	return fmt.Sprintf(`{"thought":"t%d","thoughtNumber":%d,"totalThoughts":99,"nextThoughtNeeded":true%s}`, n, n, more)
}

// pipelined serves a client that begins a session, shuts the gate, and sends the
// lines at once. Meanwhile happens while the first of them is being committed and
// the others wait for nothing any more. It returns the replies in their order.
func pipelined(t *testing.T, store *gated, lines []line, meanwhile func(e *sequent.Engine, in io.Writer)) (*sequent.Engine, []string) {
	t.Helper()
	engine := sequent.New(sequent.Config{Store: store})
	none := func(*sequent.Session) string { return "" }
	s := mcpserver.New(mcpserver.Config{
		Dialect: standard.New(standard.Config{Engine: engine, Render: standard.Render{Markdown: none, JSON: none, Mermaid: none}}),
		Caller:  tool.Caller{Scope: tool.Scope{Name: "test", Exclusive: true}},
	})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(t.Context(), inR, outW); _ = outW.Close() }()
	out := bufio.NewReader(outR)
	send := func(format string, args ...any) { _, _ = fmt.Fprintf(inW, format+"\n", args...) }
	read := func() string { l, _ := out.ReadString('\n'); return l }
	send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	read()
	const request = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"sequentialthinking","arguments":%s}}`
	send(request, 1, thinking(1, ""))
	read()

	store.gate = make(chan struct{})
	for i, l := range lines {
		send(request, i+2, l.args)
	}
	synctest.Wait()
	if meanwhile != nil {
		meanwhile(engine, inW)
		synctest.Wait()
	}
	close(store.gate)
	_ = inW.Close()
	var replies []string
	for l := read(); l != ""; l = read() {
		replies = append(replies, l)
	}
	if err := <-done; err != nil {
		t.Errorf("ServeStdio = %v", err)
	}
	return engine, replies
}

// logOf returns the texts of a session's thoughts in the order of its log.
func logOf(s *sequent.Session) string {
	var texts []string
	for t := range s.All() {
		texts = append(texts, t.Text)
	}
	return strings.Join(texts, " ")
}

// Calls that wait behind one another keep their order, in the log and in the
// replies, and refusals among them do no harm. Each is committed by itself.
func TestPipelinedCallsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &gated{MemoryStore: sequent.NewMemoryStore()}
		lines := []line{
			{thinking(2, ""), `"thoughtNumber\":2`},
			{thinking(3, ""), `"thoughtNumber\":3`},
			{thinking(4, `,"revisesThought":77`), `"isError":true`},
			{`{"thought":7}`, `"isError":true`},
			{thinking(4, ""), `"thoughtNumber\":4`},
			{thinking(5, `,"requestKey":"k"`), `"thoughtNumber\":5`},
			{thinking(5, `,"requestKey":"k"`), `"thoughtNumber\":5`},
			{thinking(6, ""), `"thoughtNumber\":6`},
		}
		engine, replies := pipelined(t, store, lines, nil)
		if len(replies) != len(lines) {
			t.Fatalf("%d replies, want %d: %q", len(replies), len(lines), replies)
		}
		for i, l := range lines {
			id, want := fmt.Sprintf(`"id":%d,`, i+2), strings.ReplaceAll(l.want, `"thought`, `\"thought`)
			if !strings.Contains(replies[i], id) || !strings.Contains(replies[i], want) {
				t.Errorf("reply %d is %s\nwant %s and %s", i, replies[i], id, want)
			}
		}
		page, err := engine.Sessions(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 1 {
			t.Fatalf("sessions: %v, %v; want one", page.Headers, err)
		}
		s, err := engine.Session(t.Context(), page.Headers[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := logOf(s), "t1 t2 t3 t4 t5 t6"; got != want {
			t.Errorf("recorded %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(store.commits), "[1 1 1 1 1 1]"; got != want {
			t.Errorf("commits of %s thoughts, want %s", got, want)
		}
	})
}

// A call that is cancelled while others are committed is neither recorded nor
// answered.
func TestPipelinedCallIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &gated{MemoryStore: sequent.NewMemoryStore()}
		lines := []line{{args: thinking(2, "")}, {args: thinking(3, "")}, {args: thinking(4, "")}}
		engine, replies := pipelined(t, store, lines, func(_ *sequent.Engine, in io.Writer) {
			_, _ = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`+"\n")
		})
		if len(replies) != 2 || !strings.Contains(replies[0], `"id":2,`) || !strings.Contains(replies[1], `"id":4,`) {
			t.Errorf("replies are %q, want those to 2 and 4", replies)
		}
		page, err := engine.Sessions(t.Context(), sequent.Query{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := engine.Session(t.Context(), page.Headers[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := logOf(s), "t1 t2 t4"; got != want {
			t.Errorf("recorded %s, want %s", got, want)
		}
	})
}

// The session is deleted while calls to it wait. They continue in the next one, in
// their order.
func TestPipelinedCallsLoseTheirSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &gated{MemoryStore: sequent.NewMemoryStore()}
		var lines []line
		var want []string
		for n := 2; n < 40; n++ {
			lines = append(lines, line{args: thinking(n, "")})
			want = append(want, fmt.Sprint("t", n))
		}
		engine, replies := pipelined(t, store, lines, func(e *sequent.Engine, _ io.Writer) {
			page, err := e.Sessions(t.Context(), sequent.Query{})
			if err != nil || len(page.Headers) != 1 {
				t.Fatalf("sessions: %v, %v; want one", page.Headers, err)
			}
			if err := e.Delete(t.Context(), page.Headers[0].ID); err != nil {
				t.Fatal(err)
			}
		})
		if len(replies) != len(lines) {
			t.Errorf("%d replies, want %d", len(replies), len(lines))
		}
		for i, r := range replies {
			var m struct{ ID int }
			if err := json.Unmarshal([]byte(r), &m); err != nil || m.ID != i+2 || strings.Contains(r, "isError") {
				t.Errorf("reply %d is %s", i, r)
			}
		}
		page, err := engine.Sessions(t.Context(), sequent.Query{})
		if err != nil || len(page.Headers) != 1 {
			t.Fatalf("sessions: %v, %v; want one", page.Headers, err)
		}
		s, err := engine.Session(t.Context(), page.Headers[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := logOf(s); got != strings.Join(want, " ") {
			t.Errorf("recorded %s, want %s", got, strings.Join(want, " "))
		}
	})
}
