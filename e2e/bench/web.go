package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A web compares sequent over HTTP with a server that does nothing: it reads what
// it is sent and sends it back. Both have the same client, which costs most.
type web struct {
	clients    int
	echo, real float64 // requests a second
}

// goalWeb is the least ratio of the two.
const goalWeb = 0.5

// webRequest is a call of 2026-07-28, but for the session and the text.
const webRequest = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},` +
	`"name":"sequentialthinking","arguments":{%s"thought":"%s","nextThoughtNeeded":true}}}`

// round measures both once.
func (w *web) round(ctx context.Context, p plan, sequent string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, s := range []struct {
		command []string
		rate    *float64
	}{
		{[]string{self, "-echo"}, &w.echo},
		{[]string{sequent, "serve", "--store", "memory", "--rate", "0", "--http"}, &w.real},
	} {
		rate, err := w.measure(ctx, p, s.command)
		if err != nil {
			return fmt.Errorf("%s over HTTP: %w", s.command[0], err)
		}
		best(s.rate, rate, more)
	}
	return nil
}

// measure starts a server on a free port, which ends the command, and calls it.
func (w *web) measure(ctx context.Context, p plan, command []string) (rate float64, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], addr)...)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop(cmd)) }()
	url := "http://" + addr + "/mcp"
	transport := &http.Transport{MaxIdleConnsPerHost: w.clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	sessions := make([]string, w.clients)
	for i := range sessions {
		reply, err := post(ctx, client, url, fmt.Sprintf(webRequest, "", "the first"))
		for deadline := time.Now().Add(5 * time.Second); errors.Is(err, errConnect) && time.Now().Before(deadline); {
			time.Sleep(10 * time.Millisecond)
			reply, err = post(ctx, client, url, fmt.Sprintf(webRequest, "", "the first"))
		}
		if err != nil {
			return 0, err
		}
		sessions[i] = sessionOf(reply)
	}
	if _, err := w.calls(ctx, client, url, sessions, p.warm, p.size); err != nil {
		return 0, err
	}
	return w.calls(ctx, client, url, sessions, p.calls, p.size)
}

// stop ends a server as a user would.
func stop(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && !exit.Exited() {
		return nil // the echo does not handle the signal
	}
	return err
}

// sessionOf returns the member that names the session of a reply; empty if it is
// but an echo.
func sessionOf(reply []byte) string {
	var r struct {
		Result struct {
			StructuredContent struct {
				SessionID string `json:"sessionId"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if json.Unmarshal(reply, &r) != nil || r.Result.StructuredContent.SessionID == "" {
		return ""
	}
	return `"sessionId":"` + r.Result.StructuredContent.SessionID + `",`
}

// calls makes calls, each client one at a time in its session.
func (w *web) calls(ctx context.Context, client *http.Client, url string, sessions []string, n, size int) (float64, error) {
	var wg sync.WaitGroup
	failed := make([]error, len(sessions))
	begun := time.Now()
	for i, session := range sessions {
		wg.Go(func() {
			for j := range n / len(sessions) {
				reply, err := post(ctx, client, url, fmt.Sprintf(webRequest, session, words(i*n+j, size)))
				if err == nil && (strings.Contains(string(reply), `"isError":true`) || strings.Contains(string(reply), `"error":{`)) {
					err = fmt.Errorf("the reply is %s", reply)
				}
				if err != nil {
					failed[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n/len(sessions)*len(sessions)) / time.Since(begun).Seconds(), errors.Join(failed...)
}

var errConnect = errors.New("no answer")

func post(ctx context.Context, client *http.Client, url, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "sequentialthinking",
	} {
		r.Header.Set(name, value)
	}
	res, err := client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errConnect, err)
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, reply)
	}
	return reply, err
}

// serveEcho is the server that does nothing.
func serveEcho(addr string) error {
	return http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
}

// report returns the page's paragraph on HTTP, and what was missed.
func (w *web) report() (paragraph, missed string) {
	ratio := w.real / w.echo
	paragraph = fmt.Sprintf(`
Over HTTP, protocol 2026-07-28, %d clients with one call each in flight reach %s calls per second with the memory store. With
a bare net/http server that echoes its input they reach %s: that is %.3gx, goal ≥ %gx`,
		w.clients, figure(w.real), figure(w.echo), ratio, goalWeb)
	if ratio < goalWeb {
		paragraph += ", **missed**"
		missed = fmt.Sprintf("- over HTTP, memory: %.3gx of a bare echo, goal ≥ %gx", ratio, goalWeb)
	}
	return paragraph + ".\n", missed
}
