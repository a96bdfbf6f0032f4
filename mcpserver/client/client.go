// Package client is a small MCP client for programs that start a server of their
// own and call its tools.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/tool"
)

// A Client is connected to a server that it has started, or over HTTP. It is safe for concurrent use.
type Client struct{ session *mcp.ClientSession }

// Connect starts cmd, whose standard input and output must not be set, and connects to it
// in the newest version of the protocol that both support. ctx limits only the
// connecting. The server's standard error is that of cmd.
func Connect(ctx context.Context, cmd *exec.Cmd) (*Client, error) {
	return connect(ctx, cmd.Path, &mcp.CommandTransport{Command: cmd})
}

// ConnectHTTP connects to a server over HTTP. A token, if there is one, is sent as a bearer
// token to this URL only, not to where it redirects. ctx limits only the connecting.
func ConnectHTTP(ctx context.Context, url, token string) (*Client, error) {
	return connect(ctx, url, &mcp.StreamableClientTransport{
		Endpoint: url, DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{
			Transport: bearer(token),
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
		},
	})
}

// A bearer is a transport that sends a token with every request.
type bearer string

// RoundTrip sends the request.
func (token bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(token))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func connect(ctx context.Context, where string, transport mcp.Transport) (*Client, error) {
	c := mcp.NewClient(
		&mcp.Implementation{Name: "sequent-client", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}},
	)
	session, err := c.Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("client: connect to %s: %w", where, err)
	}
	return &Client{session}, nil
}

// Server returns the name and the version that the server gives itself.
func (c *Client) Server() (name, version string) {
	if r := c.session.InitializeResult(); r != nil && r.ServerInfo != nil {
		return r.ServerInfo.Name, r.ServerInfo.Version
	}
	return "", ""
}

// Tools returns the tools in the server's order. Their schemas are equivalent to the
// server's, but not byte for byte. They fail after the client is closed.
func (c *Client) Tools(ctx context.Context) ([]tool.Tool, error) {
	var tools []tool.Tool
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, asProtocolError(err)
		}
		spec := tool.Spec{Name: t.Name, Title: t.Title, Description: t.Description}
		if spec.InputSchema, err = json.Marshal(t.InputSchema); err != nil {
			return nil, err
		}
		if t.OutputSchema != nil {
			if spec.OutputSchema, err = json.Marshal(t.OutputSchema); err != nil {
				return nil, err
			}
		}
		if a := t.Annotations; a != nil {
			spec.Annotations = tool.Annotations{
				ReadOnly:    a.ReadOnlyHint,
				Destructive: a.DestructiveHint == nil || *a.DestructiveHint, // the protocol's defaults
				Idempotent:  a.IdempotentHint,
				OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint,
			}
		}
		tools = append(tools, tool.Tool{Spec: spec, Call: func(ctx context.Context, call tool.Call) (tool.Reply, error) {
			return c.CallTool(ctx, spec.Name, call.Args)
		}})
	}
	return tools, nil
}

// CallTool calls a tool. The JSON of the reply is equivalent to the server's, but for numbers that
// no float64 holds. An error of the protocol is a *[tool.ProtocolError].
func (c *Client) CallTool(ctx context.Context, name string, args json.RawMessage) (tool.Reply, error) {
	res, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return tool.Reply{}, asProtocolError(err)
	}
	reply := tool.Reply{Failed: res.IsError}
	for _, block := range res.Content {
		switch b := block.(type) {
		case *mcp.TextContent:
			reply.Text += b.Text
		case *mcp.ImageContent:
			reply.Images = append(reply.Images, tool.Image{MediaType: b.MIMEType, Data: b.Data})
		}
	}
	if res.StructuredContent != nil {
		reply.JSON, err = json.Marshal(res.StructuredContent)
	}
	return reply, err
}

// Close closes the server's input, waits for the server to exit, and returns its error. A
// server that does not exit gets a signal, and is killed after some seconds.
func (c *Client) Close() error { return c.session.Close() }

func asProtocolError(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return &tool.ProtocolError{Code: int(e.Code), Message: e.Message, Data: e.Data}
	}
	return err
}
