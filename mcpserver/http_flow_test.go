package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestCancelOlder cancels a call as older clients do.
func TestCancelOlder(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{})
	post := "POST /mcp\nMcp-Session-Id: " + w.handshake("/mcp") + "\n\n"
	done := make(chan answer, 1)
	go func() { done <- w.ask(post + callLine(`"c"`, "wait", "a")) }()
	await(t, "a call begins", w.note.Begun)
	w.want(post+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}}`, http.StatusAccepted)
	w.want(post+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}`, http.StatusAccepted)
	if a := await(t, "a cancelled call ends", done); a.status != http.StatusOK || !strings.Contains(a.body, errCancelled.Message) {
		t.Errorf("the call got %d %s, want the error", a.status, a.body)
	}
	if err := await(t, "a call ends", w.note.Ended); !errors.Is(err, context.Canceled) {
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
		go func() { <-w.note.Begun; cancel() }()
		if res, err := http.DefaultClient.Do(w.request(text).WithContext(ctx)); err == nil {
			t.Errorf("got %s for a call that hangs", res.Status)
			res.Body.Close()
		}
	}
	hang(modernCall("/mcp", "wait", "a"))
	if err := await(t, "a call ends", w.note.Ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the modern call ended with %v, want %v", err, context.Canceled)
	}
	post := "POST /mcp\nMcp-Session-Id: " + w.handshake("/mcp") + "\n\n"
	hang(post + callLine(1, "wait", "b"))
	w.note.Release <- struct{}{}
	if err := await(t, "a call ends", w.note.Ended); err != nil {
		t.Errorf("the older call ended with %v, want it finished", err)
	}
	w.want(post+`{"jsonrpc":"2.0","id":2,"method":"ping"}`, http.StatusOK, `"id":2`)
}

// TestShutdownUnderLoad ends the server while calls are in progress: each that was
// answered is recorded, and each that is recorded was answered.
func TestShutdownUnderLoad(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Rate: -1})
	session := w.handshake("/mcp")
	var answered, refused atomic.Int64
	var begun, all sync.WaitGroup
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
	for i := range 20 {
		begun.Add(1)
		all.Go(func() {
			for n := 0; ; n++ {
				if n == 5 {
					begun.Done()
				}
				text := modernCall("/mcp", "note", fmt.Sprint(i, n))
				if i%2 == 0 {
					text = "POST /mcp\nMcp-Session-Id: " + session + "\n\n" + callLine(n, "note", fmt.Sprint(i, n))
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
	await(t, "a call begins", w.note.Begun)
	begun.Wait()
	w.stop()
	// The slow call is released once no connections are accepted.
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		c, err := net.Dial("tcp", w.addr)
		if err != nil {
			break
		}
		c.Close()
	}
	w.note.Release <- struct{}{}
	if a := await(t, "the slow call ends", waiting); a.status != http.StatusOK || !strings.Contains(a.body, "done last") {
		t.Errorf("the slow call got %d %s, want its reply", a.status, a.body)
	}
	w.ended()
	all.Wait()
	if got := int64(len(w.note.All())) - 1; got != answered.Load() {
		t.Errorf("recorded %d notes, answered %d calls", got, answered.Load())
	}
	t.Logf("%d calls answered, %d refused", answered.Load(), refused.Load())
}

// TestShutdownOutOfTime ends the server while a call will not end by itself.
func TestShutdownOutOfTime(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Grace: 50 * time.Millisecond})
	go func() { _, _ = http.DefaultClient.Do(w.request(modernCall("/mcp", "wait", "a"))) }()
	await(t, "a call begins", w.note.Begun)
	w.stop()
	if err := await(t, "serving ends", w.done); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Serve = %v, want %v", err, context.DeadlineExceeded)
	}
	if err := await(t, "a call ends", w.note.Ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want %v", err, context.Canceled)
	}
}

// TestHalfOpen leaves connections in each state in which a client can get stuck.
// Others are served, the stuck ones cut, and the end of the server does not wait.
func TestHalfOpen(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Timeout: 2 * time.Second})
	session := w.handshake("/mcp")
	stuck := make(map[string]net.Conn)
	for name, text := range map[string]string{
		"silent":         "",
		"in its header":  "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-",
		"in its message": "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{\"jsonrpc\"",
		"in a chunk":     "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{",
	} {
		stuck[name] = w.dial()
		fmt.Fprint(stuck[name], text)
	}
	w.want("POST /mcp\nMcp-Session-Id: "+session+"\n\n"+callLine(1, "note", "x"), http.StatusOK, "zeta")
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
	w.dial()
	w.end()
}

// TestShutdownOfStuckClients ends the server while clients do not read their replies, and one has sent half of
// a message. There is no call to wait for.
func TestShutdownOfStuckClients(t *testing.T) {
	t.Parallel()
	w := serveHTTP(t, HTTPConfig{Timeout: time.Hour, Grace: time.Minute, Rate: -1})
	half := w.dial()
	fmt.Fprint(half, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\nExpect: 100-continue\r\n\r\n{\"jsonrpc\"")
	if _, err := io.ReadFull(half, make([]byte, 10)); err != nil { // the server reads
		t.Fatal(err)
	}
	text := strings.Repeat("x", 3<<20)
	var full sync.WaitGroup
	for range 4 {
		c := w.dial()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		full.Go(func() {
			for range 20 { // until nothing moves any more
				_ = c.SetWriteDeadline(time.Now().Add(time.Second))
				if w.request(modernCall("/mcp", "args", text)).Write(c) != nil {
					return
				}
			}
		})
	}
	full.Wait()
	begun := time.Now()
	w.stop()
	if err := await(t, "serving ends", w.done); err != nil {
		t.Errorf("Serve = %v after %v, want nil", err, time.Since(begun))
	}
}

// TestKeptConnection makes requests on one connection, longer apart than a write
// may take.
func TestKeptConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const timeout = 2 * time.Second
		w := serveInside(t, HTTPConfig{Timeout: timeout})
		client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DialContext: w.dialer, MaxConnsPerHost: 1}}
		for range 2 {
			for _, text := range []string{modernCall("/mcp", "note", "x"), "PUT /mcp\n"} {
				res, err := client.Do(w.request(text))
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
				time.Sleep(2 * timeout)
			}
		}
		// A call may take longer than that too.
		go func() {
			<-w.note.Begun
			time.Sleep(2 * timeout)
			w.note.Release <- struct{}{}
		}()
		w.want(modernCall("/mcp", "wait", "y"), http.StatusOK, "done y")
		w.end()
	})
}
