package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSDKClient talks to the server with a client that we did not write, over each transport of a network
// and in each version of the protocol. Package client does so over a pipe.
func TestSDKClient(t *testing.T) {
	t.Parallel()
	for _, version := range mcp.SupportedProtocolVersions() {
		for name, transport := range map[string]func(w *site) mcp.Transport{
			"HTTP":      func(w *site) mcp.Transport { return &mcp.StreamableClientTransport{Endpoint: w.url, MaxRetries: -1} },
			"WebSocket": func(w *site) mcp.Transport { return socketTransport{"ws://" + w.addr + "/ws"} },
		} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				w := serveHTTP(t, HTTPConfig{})
				useSDK(t, transport(w), version, w.note)
				w.end()
			})
		}
	}
}

// useSDK does with a client of the SDK what clients do, and closes it.
func useSDK(t *testing.T, transport mcp.Transport, version string, n *notebook) {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := cs.InitializeResult(); got.ProtocolVersion != negotiated(version) || got.ServerInfo.Name != "sequent" {
		t.Errorf("server is %v, version %s, want sequent, %s", got.ServerInfo, got.ProtocolVersion, negotiated(version))
	}

	tools, err := cs.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != len(n.Tools()) || tools.Tools[0].Name != "note" {
		t.Errorf("ListTools = %v, %v; want those of the dialect in its order", tools, err)
	}
	for i := range 20 {
		res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "note", Arguments: map[string]string{"text": fmt.Sprint(i)}})
		if err != nil || res.IsError {
			t.Fatalf("CallTool = %v, %v; want a result", res, err)
		}
		if got, want := fmt.Sprint(res.StructuredContent), fmt.Sprintf("map[alpha:%d zeta:%d]", i, i+1); got != want {
			t.Errorf("structured content = %s, want %s", got, want)
		}
	}
	if doc, err := cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "notes://note/a"}); err != nil || doc.Contents[0].Text != "# Note <a>\n" {
		t.Errorf("ReadResource = %v, %v; want the document", doc, err)
	}

	// A call that the client gives up.
	callCtx, cancel := context.WithCancel(ctx)
	go func() { <-n.Begun; cancel() }()
	if _, err := cs.CallTool(callCtx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]string{"text": "w"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("CallTool = %v, want %v", err, context.Canceled)
	}
	if err := await(t, "a call ends", n.Ended); !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want %v", err, context.Canceled)
	}
	if _, err := cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "again"}); err != nil {
		t.Errorf("GetPrompt after that = %v, want a prompt", err)
	}

	if err := cs.Close(); err != nil {
		t.Error(err)
	}
	if got := n.All(); len(got) != 21 || !slices.Contains(got, "19") {
		t.Errorf("recorded %q, want 21 notes", got)
	}
}

// A socketTransport is the transport that a client of the SDK needs.
type socketTransport struct{ url string }

func (s socketTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	ws, _, err := websocket.Dial(ctx, s.url, nil)
	return &socketConn{ws}, err
}

type socketConn struct{ *websocket.Conn }

func (c *socketConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	_, text, err := c.Conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	return jsonrpc.DecodeMessage(text)
}

func (c *socketConn) Write(ctx context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	// A write that is cancelled would close the connection.
	return c.Conn.Write(context.WithoutCancel(ctx), websocket.MessageText, text)
}
func (c *socketConn) Close() error      { return c.Conn.Close(websocket.StatusNormalClosure, "") }
func (c *socketConn) SessionID() string { return "" }

// negotiated returns the version that a client gets which asks for one.
func negotiated(asked string) string {
	if asked == "2025-03-26" { // not served
		return "2025-11-25"
	}
	return asked
}
