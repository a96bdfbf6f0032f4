package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/mcpserver/internal/mcptest"
)

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func sdkClient(t *testing.T, url, token, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}, MaxRetries: -1,
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect to %s in %s: %v", url, version, err)
	}
	return cs
}

// TestHTTPSDKClient talks to the server with a client that we did not write, in
// each version of the protocol.
func TestHTTPSDKClient(t *testing.T) {
	t.Parallel()
	for _, version := range mcp.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			w := serveHTTP(t, HTTPConfig{})
			cs := sdkClient(t, w.url, "", version)
			if got := cs.InitializeResult(); got.ProtocolVersion != negotiated(version) || got.ServerInfo.Name != "sequent" {
				t.Errorf("server is %v, version %s, want sequent, %s", got.ServerInfo, got.ProtocolVersion, negotiated(version))
			}
			tools, err := cs.ListTools(ctx, nil)
			if err != nil || len(tools.Tools) != len(w.note.Tools()) || tools.Tools[0].Name != "note" {
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
			if _, err := cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: "notes://note/none"}); !isCode(err, wantNotFound(version)) {
				t.Errorf("ReadResource = %v, want code %d", err, wantNotFound(version))
			}

			// A call that the client gives up.
			callCtx, cancel := context.WithCancel(ctx)
			go func() { <-w.note.Begun; cancel() }()
			if _, err := cs.CallTool(callCtx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]string{"text": "w"}}); !errors.Is(err, context.Canceled) {
				t.Errorf("CallTool = %v, want %v", err, context.Canceled)
			}
			if err := mcptest.Await(t, "a call ends", w.note.Ended); !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v, want %v", err, context.Canceled)
			}
			if _, err := cs.GetPrompt(ctx, &mcp.GetPromptParams{Name: "again"}); err != nil {
				t.Errorf("GetPrompt after that = %v, want a prompt", err)
			}
			if err := cs.Close(); err != nil {
				t.Error(err)
			}
			w.stop()
			if err := mcptest.Await(t, "serving ends", w.done); err != nil {
				t.Errorf("Serve = %v, want nil", err)
			}
			if got := w.note.All(); len(got) != 21 || !slices.Contains(got, "19") {
				t.Errorf("recorded %q, want 21 notes", got)
			}
		})
	}
}
