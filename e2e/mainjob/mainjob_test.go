package mainjob

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
	first      = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sequentialthinking","arguments":{"thought":"The cache is cold after each deploy.","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":2}}}`
	last       = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"sequentialthinking","arguments":{"thought":"So warm it.","nextThoughtNeeded":false,"thoughtNumber":2,"totalThoughts":2}}}`
)

// The program records thoughts over standard input and HTTP, and shows them afterwards.
func TestMainJob(t *testing.T) {
	program := programtest.Program(t)
	for name, record := range map[string]func(t *testing.T, program, store string){"stdio": overStdio, "http": overHTTP} {
		t.Run(name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "sequent.db")
			record(t, program, store)
			shown := string(programtest.Output(t, exec.Command(program, "show", "--all-projects", "--store", store)))
			for _, want := range []string{"The cache is cold after each deploy.", "So warm it.", "completed"} {
				if !strings.Contains(shown, want) {
					t.Errorf("sequent show prints no %q:\n%s", want, shown)
				}
			}
		})
	}
}

func overStdio(t *testing.T, program, store string) {
	p := programtest.Start(t, time.Minute, program, "serve", "--store", store)
	defer p.Close(t)
	p.Ask(t, initialize)
	p.Send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, call := range []string{first, last} {
		checkReply(t, p.Ask(t, call))
	}
}

func overHTTP(t *testing.T, program, store string) {
	url := programtest.ServeHTTP(t, program, "--store", store)
	connection := ""
	post := func(message string) string {
		got, err := programtest.Do(http.DefaultClient, programtest.Older(t, url, "", connection, message))
		if err != nil || got.Status/100 != 2 {
			t.Fatalf("%s: %+v, %v", message, got, err)
		}
		if id := got.Header.Get("Mcp-Session-Id"); id != "" {
			connection = id
		}
		return got.Body
	}
	post(initialize)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, call := range []string{first, last} {
		checkReply(t, post(call))
	}
}

// checkReply checks that a call was answered and not refused.
func checkReply(t *testing.T, line string) {
	t.Helper()
	var reply struct {
		Result struct {
			IsError           bool
			StructuredContent map[string]any
		}
	}
	if err := json.Unmarshal([]byte(line), &reply); err != nil || reply.Result.IsError || reply.Result.StructuredContent["thoughtNumber"] == nil {
		t.Fatalf("%v: the call was not answered: %s", err, line)
	}
}
