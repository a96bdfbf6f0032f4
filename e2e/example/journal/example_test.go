package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/e2e/example/journal"
	"github.com/sequent-dev/sequent/mcpserver"
	"github.com/sequent-dev/sequent/tool"
)

// Serve a dialect over MCP on standard input and output. Here both are in memory.
func Example() {
	ctx := context.Background()
	d, err := journal.New(dialect.Env{
		Engine: sequent.New(sequent.Config{}),
		Rand:   rand.NewChaCha8([32]byte{}), // the same ids in each run; rand.Reader of crypto/rand in a program
		Logger: slog.New(slog.DiscardHandler),
		Stderr: io.Discard,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := mcpserver.New(mcpserver.Config{
		Dialect: d,
		Caller:  tool.Caller{Scope: tool.Scope{Name: "stdio", Exclusive: true}},
	})

	requests := strings.NewReader(`
{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "example", "version": "1"}}}
{"jsonrpc": "2.0", "method": "notifications/initialized"}
{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "journal", "arguments": {"entry": "The cache is cold after each deploy."}}}
{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "journal", "arguments": {"entry": "Warm it from the previous instance."}}}
{"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "journal", "arguments": {"entry": 7}}}
`)
	var replies bytes.Buffer
	if err := server.ServeStdio(ctx, requests, &replies); err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(replies.String()) {
		var reply struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(line), &reply); err != nil {
			fmt.Println(err)
		}
		for _, c := range reply.Result.Content {
			fmt.Println(c.Text)
		}
	}
	// Output:
	// {"journal":"v63qxkkd6t5a","entries":1}
	// {"journal":"v63qxkkd6t5a","entries":2}
	// INVALID_ARGUMENT: entry is 7; it must be a string that is not empty; correct it and repeat the call
}
