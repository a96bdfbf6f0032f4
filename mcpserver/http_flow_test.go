package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/dialect"
)

// chatty returns a server whose tools say something while they work, which those
// of a dialect do not.
func chatty() *Server {
	s := New(Config{Dialect: dialect.Dialect{Name: "chatty"}})
	schema := json.RawMessage(`{"type":"object"}`)
	s.mcp.AddTool(&mcp.Tool{Name: "progress", InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "p", Progress: float64(i), Message: "a <b>"}); err != nil {
				return nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
	})
	s.mcp.AddTool(&mcp.Tool{Name: "ask", InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "well?", RequestedSchema: schema})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Action}}}, nil
	})
	return s
}

const asking = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`

// TestStreams checks what comes before a reply, in both eras.
func TestStreams(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{chatty()}})
	session := w.handshake("/mcp/chatty")
	legacy := "POST /mcp/chatty\nMcp-Session-Id: " + session + "\n"
	post := legacy + "\n" + `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"progress"}}`
	for _, text := range []string{post, modernCall("/mcp/chatty", "progress", "")} {
		a := w.want(text, http.StatusOK)
		next := events(strings.NewReader(a.body))
		for i := range 3 {
			got, _ := next()
			want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"a <b>","progress":%d,"progressToken":"p"}}`, i)
			if !strings.Contains(got, `notifications/progress`) || !strings.Contains(got, fmt.Sprintf(`"progress":%d`, i)) || !json.Valid([]byte(got)) {
				t.Errorf("event %d is %s, want like %s", i, got, want)
			}
		}
		if got, _ := next(); !strings.Contains(got, `"text":"done"`) || a.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("the last event is %s in %v, want the reply", got, a.header)
		}
	}
	// A client that takes no events gets the reply alone.
	a := w.want(strings.Replace(post, "\n\n", "\nAccept: application/json\n\n", 1), http.StatusOK, `"text":"done"`)
	if a.header.Get("Content-Type") != "application/json" || strings.Contains(a.body, "progress") {
		t.Errorf("a client that accepts JSON got %v %s", a.header, a.body)
	}
}

// TestServerAsks has a tool ask the client something, as only older ones can be
// asked, and the client say what it likes.
func TestServerAsks(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{chatty()}})
	a := w.ask("POST /mcp/chatty\n\n" + asking)
	post := "POST /mcp/chatty\nMcp-Session-Id: " + a.header.Get(headerSession) + "\n\n"
	res := w.open(post + `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"ask"}}`)
	defer res.Body.Close()
	next := events(res.Body)
	got, err := next()
	var question struct {
		ID     int64  `json:"id"`
		Method string `json:"method"`
	}
	if json.Unmarshal([]byte(got), &question) != nil || question.Method != "elicitation/create" {
		t.Fatalf("event %s, %v; want a question", got, err)
	}
	w.want(post+`{"jsonrpc":"2.0","id":12345,"result":{"action":"decline"}}`, http.StatusAccepted) // to nothing
	w.want(post+fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"action":"accept","content":{}}}`, question.ID), http.StatusAccepted)
	if got, err := next(); !strings.Contains(got, `"text":"accept"`) || !strings.Contains(got, `"id":"x"`) {
		t.Errorf("event %s, %v; want the reply", got, err)
	}
	// Nobody can be asked who reads no events.
	w.want(strings.Replace(post, "\n\n", "\nAccept: application/json\n\n", 1)+
		`{"jsonrpc":"2.0","id":"y","method":"tools/call","params":{"name":"ask"}}`, http.StatusOK, `"id":"y"`, "no stream open")
	w.want(post+`{"jsonrpc":"2.0","id":"z","method":"ping"}`, http.StatusOK, `"id":"z"`)
}

// TestSubscription follows a list in a long reply of the new era, and on the
// stream of an older client.
func TestSubscription(t *testing.T) {
	t.Parallel()
	s := New(Config{Dialect: dialect.Dialect{Name: "changing"}})
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "changing", Version: "1"}, nil) // whose lists change
	s.mcp.AddTool(&mcp.Tool{Name: "one", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	w := serveHTTP(t, HTTPConfig{Servers: []*Server{s}})

	res := w.open(modernPost("/mcp/changing", methodListen, "", `"notifications":{"toolsListChanged":true}`))
	defer res.Body.Close()
	next := events(res.Body)
	if got, err := next(); !strings.Contains(got, "subscriptions/acknowledged") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":1`) {
		t.Fatalf("first event %s, %v; want an acknowledgement with the request's id", got, err)
	}
	id := w.handshake("/mcp/changing")
	get := "GET /mcp/changing\nMcp-Session-Id: " + id + "\n"
	before := w.open(get)
	defer before.Body.Close()
	older := w.open(get)
	defer older.Body.Close()
	if data, err := io.ReadAll(before.Body); err != nil || strings.Contains(string(data), "event") {
		t.Errorf("the stream that another has replaced ended with %q, %v; want it to end without events", data, err)
	}
	olderNext := events(older.Body)

	s.mcp.RemoveTools("one")
	for name, next := range map[string]func() (string, error){"modern": next, "older": olderNext} {
		if got, err := next(); !strings.Contains(got, "notifications/tools/list_changed") {
			t.Errorf("%s event %s, %v; want the change", name, got, err)
		}
	}
	w.stop()
	if err := <-w.done; err != nil {
		t.Errorf("Serve = %v, want it to end with streams open", err)
	}
	if got, err := next(); !strings.Contains(got, `"id":1`) && !errors.Is(err, io.EOF) {
		t.Errorf("the subscription ended with %s, %v; want its reply or its end", got, err)
	}
}

// TestCancelOlder cancels a call as older clients do.
func TestCancelOlder(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	post := "POST /mcp\nMcp-Session-Id: " + w.handshake("/mcp") + "\n\n"
	done := make(chan answer, 1)
	go func() { done <- w.ask(post + call(`"c"`, "wait", "a")) }()
	<-w.note.begun
	w.want(post+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}`, http.StatusAccepted)
	w.want(post+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}`, http.StatusAccepted)
	if a := <-done; a.status != http.StatusOK || !strings.Contains(a.body, errCancelled.Message) {
		t.Errorf("the call got %d %s, want the error", a.status, a.body)
	}
	if err := <-w.note.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want %v", err, context.Canceled)
	}
}

// TestDisconnect checks that a client that goes away stops its call in the new
// era, and not in the older ones.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	hang := func(text string) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-w.note.begun; cancel() }()
		if res, err := http.DefaultClient.Do(w.request(text).WithContext(ctx)); err == nil {
			t.Errorf("got %s for a call that hangs", res.Status)
			res.Body.Close()
		}
	}
	hang(modernCall("/mcp", "wait", "a"))
	if err := <-w.note.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the modern call ended with %v, want %v", err, context.Canceled)
	}
	post := "POST /mcp\nMcp-Session-Id: " + w.handshake("/mcp") + "\n\n"
	hang(post + call(1, "wait", "b"))
	w.note.release <- struct{}{}
	if err := <-w.note.ended; err != nil {
		t.Errorf("the older call ended with %v, want it finished", err)
	}
	w.want(post+`{"jsonrpc":"2.0","id":2,"method":"ping"}`, http.StatusOK, `"id":2`)
}

// TestShutdownUnderLoad ends the server while calls are under way: each that was
// answered is recorded, and each that is recorded was answered.
func TestShutdownUnderLoad(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Rate: -1})
	session := w.handshake("/mcp")
	var answered, refused atomic.Int64
	var begun, all sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
	for i := range 20 {
		begun.Add(1)
		all.Go(func() {
			for n := 0; ; n++ {
				if n == 5 {
					begun.Done()
				}
				text := modernCall("/mcp", "note", fmt.Sprint(i, n))
				if i%2 == 0 {
					text = "POST /mcp\nMcp-Session-Id: " + session + "\n\n" + call(n, "note", fmt.Sprint(i, n))
				}
				res, err := client.Do(w.request(text))
				if err != nil {
					return
				}
				body, err := io.ReadAll(res.Body)
				res.Body.Close()
				switch {
				case err != nil:
					t.Errorf("a reply broke off after %q: %v", body, err)
					return
				case res.StatusCode == http.StatusServiceUnavailable:
					refused.Add(1)
					return
				case res.StatusCode != http.StatusOK || !strings.Contains(string(body), "zeta"):
					t.Errorf("got %s %s, want a result", res.Status, body)
					return
				}
				answered.Add(1)
			}
		})
	}
	waiting := make(chan answer, 1)
	go func() { waiting <- w.ask(modernCall("/mcp", "wait", "last")) }()
	<-w.note.begun
	begun.Wait()
	w.stop()
	// Only when nobody is let in any more is the slow call let go.
	for {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			break
		}
		c.Close()
	}
	w.note.release <- struct{}{}
	if a := <-waiting; a.status != http.StatusOK || !strings.Contains(a.body, "done last") {
		t.Errorf("the slow call got %d %s, want its reply", a.status, a.body)
	}
	if err := <-w.done; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
	all.Wait()
	if got := int64(len(w.note.all())) - 1; got != answered.Load() {
		t.Errorf("recorded %d notes, answered %d calls", got, answered.Load())
	}
	t.Logf("%d calls answered, %d refused", answered.Load(), refused.Load())
}

// TestShutdownOutOfTime ends the server while a call will not end by itself.
func TestShutdownOutOfTime(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Grace: 50 * time.Millisecond})
	go func() { _, _ = http.DefaultClient.Do(w.request(modernCall("/mcp", "wait", "a"))) }()
	<-w.note.begun
	w.stop()
	if err := <-w.done; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve = %v, want %v", err, context.DeadlineExceeded)
	}
	if err := <-w.note.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want %v", err, context.Canceled)
	}
}

// TestHalfOpen leaves connections in each state in which a client can get stuck.
// Others are served, the stuck ones cut, and the end of the server does not wait.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Patience: 2 * time.Second})
	session := w.handshake("/mcp")
	stuck := make(map[string]net.Conn)
	for name, text := range map[string]string{
		"silent":         "",
		"in its header":  "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-",
		"in its message": "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{\"jsonrpc\"",
		"in a chunk":     "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{",
	} {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		stuck[name] = c
	}
	w.want("POST /mcp\nMcp-Session-Id: "+session+"\n\n"+call(1, "note", "x"), http.StatusOK, "zeta")
	for name, c := range stuck {
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		got, err := io.ReadAll(c)
		if err != nil {
			t.Errorf("%s: %v, want the server to hang up", name, err)
		}
		if message := strings.HasPrefix(name, "in its m") || strings.HasPrefix(name, "in a"); message && !strings.Contains(string(got), "408") {
			t.Errorf("%s: got %q, want 408", name, got)
		}
	}
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w.stop()
	if err := <-w.done; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
}

// TestSlowReader has a client ask for much and read nothing. It is given up, and
// holds up neither the others nor the end.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Patience: time.Second, Rate: -1})
	text := strings.Repeat("x", 3<<20)
	var conns []net.Conn
	for range 4 {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		go func() { // in turn, on one connection, until nothing goes any more
			out := bufio.NewWriter(c)
			for range 20 {
				if w.request(modernCall("/mcp", "args", text)).Write(out) != nil || out.Flush() != nil {
					return
				}
			}
		}()
		conns = append(conns, c)
	}
	for i := range 20 {
		w.want(modernCall("/mcp", "note", fmt.Sprint(i)), http.StatusOK, "zeta")
	}
	for _, c := range conns {
		// The server has cut the connection when a write to it fails.
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		for range time.Tick(10 * time.Millisecond) {
			if _, err := c.Write([]byte("x")); err != nil {
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the connection is still open: %v", err)
				}
				break
			}
		}
	}
	w.stop()
	if err := <-w.done; err != nil {
		t.Errorf("Serve = %v, want nil", err)
	}
}

// TestKeptConnection makes requests on one connection, longer apart than a write
// may take.
func TestKeptConnection(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Patience: 500 * time.Millisecond})
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	for range 2 {
		for _, text := range []string{modernCall("/mcp", "note", "x"), "PUT /mcp\n"} {
			res, err := client.Do(w.request(text))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			<-time.After(600 * time.Millisecond)
		}
	}
	// A call may take longer than that too.
	go func() {
		<-w.note.begun
		<-time.After(600 * time.Millisecond)
		w.note.release <- struct{}{}
	}()
	w.want(modernCall("/mcp", "wait", "y"), http.StatusOK, "done y")
}
