package sequent_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/guided"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/mcpserver"
)

// Embed the engine in a program: an agent in the same process has a tool, other
// agents connect over MCP, and the program reads what all of them have recorded.
func Example_embed() {
	ctx := context.Background()
	engine := sequent.New(sequent.Config{}) // a Store keeps sessions beyond the process

	// A tool for an agent in this process. Its loop passes the model's arguments on.
	thinking := history.NewTool(history.ToolConfig{Engine: engine, SessionID: "order-4711"})
	_, err := thinking.CallJSON(ctx, []byte(`{"thought": "The pool is exhausted at noon.",
		"thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true}`))
	if err != nil {
		fmt.Println(err)
		return
	}

	// An MCP endpoint of the program's HTTP server.
	handler, err := mcpserver.NewHTTP(mcpserver.HTTPConfig{
		Servers: []*mcpserver.Server{mcpserver.New(mcpserver.Config{Dialect: guided.New(guided.Config{Engine: engine})})},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	server := httptest.NewServer(mux)
	defer server.Close()
	defer handler.Shutdown(ctx)
	if err := callOverMCP(ctx, server.URL+"/mcp?scope=reviewer"); err != nil {
		fmt.Println(err)
		return
	}

	// Both have recorded in the same engine.
	hits, err := engine.Search(ctx, sequent.SearchQuery{Text: "pool"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, hit := range hits.Hits {
		fmt.Println(hit.Thought.Text)
	}
	// Unordered output:
	// The pool is exhausted at noon.
	// So double the pool.
}

// callOverMCP calls the tool of the dialect guided, as an MCP client does.
func callOverMCP(ctx context.Context, url string) error {
	const body = `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
		"name": "sequentialthinking",
		"arguments": {
			"thought": "So double the pool.", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
			"isRevision": false, "branchFromThought": null, "branchId": null, "needsMoreThoughts": false
		},
		"_meta": {
			"io.modelcontextprotocol/protocolVersion": "2026-07-28",
			"io.modelcontextprotocol/clientCapabilities": {}
		}
	}}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "sequentialthinking",
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", res.Status)
	}
	return nil
}
