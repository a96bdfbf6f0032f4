package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The methods and versions that this package treats in a way of its own.
const (
	methodInitialize = "initialize"
	methodDiscover   = "server/discover"
	methodPing       = "ping"
	methodListen     = "subscriptions/listen"
	methodCallTool   = "tools/call"
	noteCancelled    = "notifications/cancelled"
	noteInitialized  = "notifications/initialized"
	firstModern      = "2026-07-28"
	metaProtocol     = mcp.MetaKeyProtocolVersion
	metaCapabilities = mcp.MetaKeyClientCapabilities
	metaClient       = mcp.MetaKeyClientInfo
	metaSubscription = mcp.MetaKeySubscriptionID
	metaProgress     = "progressToken"
	notePrefix       = "notifications/"
)

// receive wraps the SDK's handling of every request, on all transports: what
// handlers return becomes what a client may see, and nothing that a handler does
// ends the process.
func (s *Server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = nil, s.panicked(method, subject(req), p)
			}
		}()
		if x := exchangeOf(req.GetExtra()); x != nil {
			ctx = context.WithValue(ctx, exchangeKey{}, x)
		}
		refuseWatching(req)
		if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok && p != nil {
			said := p.URI
			p.URI = escaped(said)
			res, err = next(ctx, method, req)
			p.URI = said // for what it is told of it
		} else {
			res, err = next(ctx, method, req)
		}
		if strings.HasPrefix(method, notePrefix) {
			return nil, err // of which nobody is told
		}
		if err != nil {
			return nil, s.clientError(ctx, method, req, err)
		}
		switch r := res.(type) {
		case *mcp.CallToolResult:
			if _, ours := s.order["tool/"+subject(req)]; !ours {
				break
			}
			out, err := newToolResult(r, modern(req))
			if err != nil {
				return nil, s.internal(method, subject(req), err)
			}
			return out, nil
		case *mcp.DiscoverResult:
			offerNoWatching(r)
		case *mcp.ListToolsResult:
			sortByRank(s, "tool/", r.Tools, func(t *mcp.Tool) string { return t.Name })
		case *mcp.ListResourcesResult:
			sortByRank(s, "resource/", r.Resources, func(r *mcp.Resource) string { return r.URI })
		case *mcp.ListResourceTemplatesResult:
			sortByRank(s, "template/", r.ResourceTemplates, func(t *mcp.ResourceTemplate) string { return t.URITemplate })
		case *mcp.ListPromptsResult:
			sortByRank(s, "prompt/", r.Prompts, func(p *mcp.Prompt) string { return p.Name })
		}
		return res, nil
	}
}

// modern reports whether a request is of 2026-07-28 or later.
func modern(req mcp.Request) bool {
	v, _ := req.GetParams().GetMeta()[metaProtocol].(string)
	return v >= firstModern
}

// subject returns which of the dialect's parts a request is about, for logs.
func subject(req mcp.Request) string {
	switch p := req.GetParams().(type) {
	case *mcp.CallToolParamsRaw:
		return p.Name
	case *mcp.GetPromptParams:
		return p.Name
	case *mcp.ReadResourceParams:
		// The rest of a URI may be a client's own words.
		scheme, _, _ := strings.Cut(p.URI, ":")
		return scheme + ":"
	}
	return ""
}
