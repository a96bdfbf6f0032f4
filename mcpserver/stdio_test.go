package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// What a transcript cannot hold: ends of lines, and bytes that are not text.
func TestBytes(t *testing.T) {
	t.Parallel()
	call := callLine(1, "note", "a")
	note := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"zeta\":1,\"alpha\":\"a\"}"}],` +
		`"structuredContent":{"zeta":1,"alpha":"a"}}}` + "\n"
	fault := func(id, why string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32700,"message":"parse error: the message is ` + why + `"}}` + "\n"
	}
	for _, tt := range []struct{ before, after, want string }{
		{"", "\n" + call + "\n", note},
		{"", "\r\n\r\n" + call + "\r\n", note},
		{"", "\n" + call, note},
		{"\xef\xbb\xbf", "\n" + call + "\n", note},
		{"\n \n\t\n", "\n\n\n  " + call + "  \n\n", note},
		{"", "\n" + callLine(1, "note", "?") + "\xed\xa0\x80\n", fault("null", "not JSON")},
		{"", "\n\x00\n", fault("null", "not JSON")},
		{"", "\n" + strings.Replace(call, `"a"`, "\"\xff\"", 1) + "\n", fault("1", "not valid UTF-8")},
		{"", "\n" + callLine("\"\xc3\x28\"", "note", "a") + "\n", fault("null", "not valid UTF-8")},
		{"", "\n" + `{"jsonrpc":"2.0","method":"` + "\xff" + `"}` + "\n", ""}, // a notification
	} {
		s, n, _ := testServer(t)
		_, got, _ := strings.Cut(converse(t, s, tt.before+helloLine+tt.after), "\n")
		if got != tt.want || (len(n.All()) == 1) != (tt.want == note) {
			t.Errorf("to %q and %q: wrote %q and recorded %q, want %q", tt.before, tt.after, got, n.All(), tt.want)
		}
	}
}

// TestLongLines is not parallel: it measures.
func TestLongLines(t *testing.T) {
	const size = 20 << 20
	long := strings.Repeat("x", size)
	const want = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request: the line is longer than 16777216 bytes"}}`
	for _, tt := range []struct{ name, line string }{
		{"a call", callLine(1, "note", long)},
		{"not JSON", long},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, n, _ := testServer(t)
			in := helloLine + "\n" + tt.line + "\n" + callLine(8, "note", "after") + "\n"
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out := converse(t, s, in)
			runtime.ReadMemStats(&after)
			if _, got, _ := strings.Cut(out, "\n"); !strings.HasPrefix(got, want+"\n") || !slices.Equal(n.All(), []string{"after"}) {
				t.Errorf("server wrote %.300q and recorded %.100q, want %q and the next call", got, n.All(), want)
			}
			// What a line within the limit costs, with the smaller buffers before it.
			if got := after.TotalAlloc - before.TotalAlloc; got > 8*defaultMaxLine {
				t.Errorf("skipping a line of %d bytes allocated %d", len(tt.line), got)
			}
		})
	}
	t.Run("at the limit", func(t *testing.T) {
		n := newNotebook()
		line := callLine(1, "note", "abc")
		for _, max := range []int{len(line), len(line) - 1} {
			s := New(Config{Dialect: n.Dialect(), MaxLine: max})
			var out bytes.Buffer
			in := line + "\n"
			if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Contains(out.String(), "longer than"), max < len(line); got != want {
				t.Errorf("MaxLine %d for %d bytes: refused = %v, want %v: %s", max, len(line), got, want, out.String())
			}
		}
	})
}

func TestPingAnswersWhileACallRuns(t *testing.T) {
	t.Parallel()
	s, n, _ := testServer(t)
	p := dial(t, s)
	p.begin(n, callLine(2, "note", "b"))
	p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	p.want(`{"jsonrpc":"2.0","id":"p","result":{}}`)
	if got := n.All(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("recorded %q while the first call runs, want only that", got)
	}
	n.Release <- struct{}{}
	p.want(saidLine(1, "done a"))
	p.line()
	_ = p.in.Close()
	p.ended()
}

func TestCancelledRequestsAreNotAnswered(t *testing.T) {
	t.Parallel()
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"no more"}}`
	}
	for _, tt := range []struct{ name, first string }{
		{"legacy", callLine(`"a"`, "wait", "a")},
		{"modern", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"wait","arguments":{"text":"a"},` + modernMeta + `}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, n, log := testServer(t)
			p := dial(t, s)
			p.open()
			p.send(tt.first, callLine(2, "note", "b"), callLine(3, "note", "c"))
			await(t, "a call begins", n.Begun)
			p.send(cancel("2"), cancel("99"), cancel(`"\u0061"`)) // waiting, unknown, running
			if err := await(t, "a call ends", n.Ended); !errors.Is(err, context.Canceled) {
				t.Errorf("the running call ended with %v, want %v", err, context.Canceled)
			}
			p.want(`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"zeta\":2,\"alpha\":\"c\"}"}],"structuredContent":{"zeta":2,"alpha":"c"}}}`)
			if got := n.All(); !slices.Equal(got, []string{"a", "c"}) {
				t.Errorf("recorded %q, want nothing of the call that was cancelled before it began", got)
			}
			if got := log.String(); got != "" {
				t.Errorf("logged %s, want nothing: a cancellation is no fault", got)
			}
		})
	}
}

func TestFaultsAreLoggedWithoutContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, logged string }{
		{"fault", "open /secret/path: no such file"},
		{"panic", "index out of range"},
		{"coded", "secret"},
		{"broken", "not JSON"},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			t.Parallel()
			s, _, log := testServer(t)
			out := converse(t, s, helloLine+"\n"+callLine(1, tt.tool, "private words")+"\n")
			id := byChance.FindString(out)
			if id == "" || strings.Contains(out, "secret") || strings.Contains(out, "goroutine") {
				t.Errorf("server wrote %s, want an id and nothing of the cause", out)
			}
			got := log.String()
			if !strings.Contains(got, strings.Trim(id, "(id )")) || !strings.Contains(got, tt.logged) || !strings.Contains(got, tt.tool) {
				t.Errorf("logged %s, want %s, the tool and %q", got, id, tt.logged)
			}
			if strings.Contains(got, "private") {
				t.Errorf("logged %s, which holds what the client sent", got)
			}
		})
	}
}
