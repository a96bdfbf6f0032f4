//go:build !windows

package command

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// After SIGTERM during calls of many clients, an HTTP server completes the accepted
// calls and exits with code 0. Exactly the acknowledged thoughts are recorded.
func TestServeHTTPSIGTERM(t *testing.T) {
	t.Parallel()
	for _, drain := range []string{"0", "500ms"} {
		t.Run(drain, func(t *testing.T) {
			t.Parallel()
			testServeHTTPSIGTERM(t, drain)
		})
	}
}

func testServeHTTPSIGTERM(t *testing.T, drain string) {
	store := filepath.Join(t.TempDir(), "s.db")
	cmd := exec.Command("sequent", "serve", "--http", "127.0.0.1:0", "--sync", "normal", "--store", store,
		"--rate", "0", "--log-level", "info", "--drain", drain)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	first, err := log.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, ok := strings.Cut(strings.TrimSpace(first), "url=")
	if !ok {
		t.Fatalf("got %q, want the server's URL", first)
	}
	call := func(id string, n int) (acknowledged bool, session string) {
		args := fmt.Sprintf(`{"thought":"thought %d","nextThoughtNeeded":true%s}`, n, id)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"?scope=test", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sequentialthinking","arguments":`+args+`,"_meta":{`+
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},`+
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`))
		if err != nil {
			t.Error(err)
			return false, ""
		}
		for key, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "sequentialthinking",
		} {
			req.Header.Set(key, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, "" // the listener is closed
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Errorf("reply is truncated after %q: %v", body, err)
			return false, ""
		}
		if res.StatusCode == http.StatusServiceUnavailable {
			return false, ""
		}
		var reply struct {
			Result struct {
				StructuredContent reply
			}
		}
		if err := json.Unmarshal(body, &reply); err != nil || reply.Result.StructuredContent.ThoughtNumber == 0 {
			t.Errorf("got reply %d %s", res.StatusCode, body)
			return false, ""
		}
		return true, reply.Result.StructuredContent.SessionID
	}
	ok, session := call("", 1)
	if !ok {
		t.Fatal("the first call failed")
	}
	var wg sync.WaitGroup
	var acknowledged atomic.Int64
	acknowledged.Store(1)
	for range 8 {
		wg.Go(func() {
			for {
				ok, _ := call(`,"sessionId":"`+session+`"`, 2)
				if !ok {
					return
				}
				if acknowledged.Add(1) == 100 {
					stop(t, cmd)
				}
			}
		})
	}
	wg.Wait()
	rest, _ := io.ReadAll(log)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v, want exit code 0", err)
	}
	if len(rest) > 0 {
		t.Errorf("got log %s, want none", rest)
	}
	if n := recorded(t, store); int64(n) != acknowledged.Load() {
		t.Errorf("got %d recorded and %d acknowledged thoughts", n, acknowledged.Load())
	}
}

// A server that nohup started ignores SIGHUP and ends with SIGTERM.
func TestServeHTTPUnderNohup(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `trap "" HUP && exec sequent serve --http 127.0.0.1:0 --store memory --log-level info`)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	first, err := log.ReadString('\n')
	_, url, ok := strings.Cut(strings.TrimSpace(first), "url=")
	if err != nil || !ok {
		t.Fatalf("got %q (%v), want the server's URL", first, err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for range 3 { // a server that is ending would soon refuse connections
		res, err := http.Get(url)
		if err != nil {
			t.Fatalf("after SIGHUP: %v", err)
		}
		res.Body.Close()
	}
	stop(t, cmd)
	rest, _ := io.ReadAll(log)
	if err := cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("the server ended with %v and log %s", err, rest)
	}
}
