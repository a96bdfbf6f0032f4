package method

import (
	"encoding/json"
	"slices"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// appsExtension is the name of the extension of clients that show pages, and appMIME the
// type of these (MCP Apps, 2026-01-26).
const (
	appsExtension = "io.modelcontextprotocol/ui"
	appMIME       = "text/html;profile=mcp-app"
)

// showsApps reports whether the capabilities of a client say that it shows pages.
func showsApps(capabilities json.RawMessage) bool {
	p := params{raw: capabilities}
	p = params{raw: p.object("extensions")}
	p = params{raw: p.object(appsExtension)}
	if p.raw == nil {
		return false
	}
	types := p.texts("mimeTypes")
	return types == nil && !p.bad || slices.Contains(types, appMIME)
}

// of returns the server that answers a request: clients that show pages are offered more.
func (s *Server) of(r *Request) *Server {
	if s.apps == nil {
		return s
	}
	if r.Modern && showsApps(r.Meta.Capabilities) || !r.Modern && r.Peer.showsApps() {
		return s.apps
	}
	return s
}

func (p *Peer) showsApps() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.apps
}

// showsApps reports whether the dialect has pages.
func (s *Server) showsApps() bool {
	return slices.ContainsFunc(s.dialect.Resources, func(r dialect.Resource) bool { return r.App })
}

// withoutApps returns what a dialect is for clients that do not show pages.
func withoutApps(d dialect.Dialect) dialect.Dialect {
	d.Tools = slices.DeleteFunc(slices.Clone(d.Tools), func(t tool.Tool) bool { return t.App != nil })
	d.Resources = slices.DeleteFunc(slices.Clone(d.Resources), func(r dialect.Resource) bool { return r.App })
	return d
}

// appMeta returns the _meta of a tool. Older hosts read the URI of the page under a name of
// its own.
func appMeta(a *tool.App) []byte {
	type ui struct {
		ResourceURI string   `json:"resourceUri,omitempty"`
		Visibility  []string `json:"visibility,omitempty"`
	}
	return mustMarshal(struct {
		UI  ui     `json:"ui"`
		URI string `json:"ui/resourceUri,omitempty"`
	}{ui{a.Page, a.Visibility}, a.Page})
}
