package mcpserver

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

// appPage is the _meta of a page.
var appPage = json.RawMessage(`{"ui":{"permissions":{"clipboardWrite":{}},"prefersBorder":true}}`)

// of returns the server that answers a request: clients that show pages are offered more.
func (s *Server) of(r *request) *Server {
	if s.apps == nil || r.Modern && !r.capabilities.showsApps() || !r.Modern && !r.conn.showsApps() {
		return s
	}
	return s.apps
}

func (c *connection) showsApps() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.can.showsApps()
}

// withoutApps returns what a dialect is for clients that do not show pages.
func withoutApps(d dialect.Dialect) dialect.Dialect {
	d.Tools = slices.DeleteFunc(slices.Clone(d.Tools), func(t tool.Tool) bool { return t.App != nil })
	d.Resources = slices.DeleteFunc(slices.Clone(d.Resources), func(r dialect.Resource) bool { return r.App })
	return d
}

// appMeta is the _meta of a tool. Older hosts read the URI of the page under a name of
// its own.
type appMeta struct {
	UI struct {
		ResourceURI string   `json:"resourceUri,omitempty"`
		Visibility  []string `json:"visibility,omitempty"`
	} `json:"ui"`
	URI string `json:"ui/resourceUri,omitempty"`
}

func appMetaOf(a *tool.App) *appMeta {
	m := &appMeta{URI: a.Page}
	m.UI.ResourceURI, m.UI.Visibility = a.Page, a.Visibility
	return m
}
