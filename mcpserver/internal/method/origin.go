package method

import (
	"context"
	"encoding/json"
	"net/url"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/jsonscan"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
)

// An Origin is what a transport knows of where a request comes from.
type Origin struct {
	Agent   string // label of the agent; empty means the name of the client
	Project string // empty means that of the client's roots
	// Local means that the client has started the server, most likely in the directory
	// of its project.
	Local bool
}

// A Peer is what the client of a connection of the handshake era has told about itself.
// It is safe for concurrent use. Nil knows nothing.
type Peer struct {
	mu            sync.Mutex // guards the fields below
	name, version string
	protocol      string // version that the handshake agreed on
	apps          bool   // it shows pages
	roots         bool   // it can be asked for its roots
	asked         int    // requests for the roots
	answered      int    // number of the last one that was answered
	root          string // directory, or ""
	used          bool   // a call was made with root
}

// introduce takes what the client says in the handshake.
func (p *Peer) introduce(client, capabilities json.RawMessage, protocol string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.version = named(client)
	p.protocol = protocol
	p.apps = showsApps(capabilities)
	has := params{raw: capabilities}
	p.roots = has.object("roots") != nil
}

// Introduced returns the version of the protocol that the handshake agreed on, and the name of
// the client; both are empty before.
func (p *Peer) Introduced() (protocol, client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.protocol, p.name
}

// named returns name and version of the description of a client.
func named(client json.RawMessage) (name, version string) {
	p := params{raw: client}
	return p.text("name"), p.text("version")
}

// Ask returns a request for the client's roots, a line, and nil for a client that has
// none. Changed means that the client has other roots than before.
func (p *Peer) Ask(changed bool) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.roots {
		return nil
	}
	if changed {
		p.used = false
	}
	p.asked++
	return []byte(`{"jsonrpc":"2.0","id":"` + rootsID(p.asked) + `","method":"roots/list"}` + "\n")
}

func rootsID(n int) string { return "roots-" + strconv.Itoa(n) }

// Answered takes the reply of the client to the latest Ask. Calls that were made before
// it have fixed the project: later ones belong to the same scope.
func (p *Peer) Answered(m *message.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id, _ := jsonscan.Text(m.ID); p.answered == p.asked || id != rootsID(p.asked) {
		return
	}
	p.answered = p.asked
	if !p.used {
		p.root = firstRoot(m.Result)
	}
}

// client returns name, version and the directory of the client.
func (p *Peer) client() (name, version, root string) {
	if p == nil {
		return "", "", ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = true
	return p.name, p.version, p.root
}

// firstRoot returns the first directory of a reply to roots/list, or "".
func firstRoot(result json.RawMessage) string {
	var list struct {
		Roots []struct {
			URI string `json:"uri"`
		} `json:"roots"`
	}
	if json.Unmarshal(result, &list) != nil {
		return ""
	}
	for _, r := range list.Roots {
		if dir := directory(r.URI, runtime.GOOS == "windows"); dir != "" {
			return dir
		}
	}
	return ""
}

// directory returns the directory of a file URI, or "".
func directory(uri string, windows bool) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !path.IsAbs(u.Path) || !utf8.ValidString(u.Path) || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	dir := path.Clean(u.Path)
	if windows {
		if len(dir) >= 3 && dir[2] == ':' { // /C:/Users
			dir = dir[1:]
		}
		if u.Host != "" && u.Host != "localhost" {
			dir = "//" + u.Host + dir
		}
		return strings.ReplaceAll(dir, "/", `\`)
	}
	return dir
}

// trace adds to ctx where a request comes from, and its project to the scope of its
// caller.
func (s *Server) trace(ctx context.Context, r *Request) context.Context {
	if s.anonymous {
		return ctx
	}
	ctx = sequent.WithContext(ctx, s.context(r))
	if project := sequent.ContextOf(ctx).Project; project != "" { // without credentials
		r.Caller.Scope.Project = project
	}
	return ctx
}

func (s *Server) context(r *Request) sequent.Context {
	var c sequent.Context
	var root string
	name, version := "", ""
	if r.Modern {
		name, version = named(r.Meta.Client)
	} else {
		name, version, root = r.Peer.client()
	}
	switch {
	case r.Origin.Project != "": // whose branch is not known
		c.Project = r.Origin.Project
	case root != "" && s.place != nil:
		c = s.place(root)
		if c.Project == "" {
			c.Project = root
		}
	case root != "":
		c.Project = root
	case r.Origin.Local && s.place != nil:
		c = s.place("")
	}
	c.Client, c.ClientVersion, c.Agent, c.Model = name, version, r.Origin.Agent, model(r.Meta.Codex)
	if c.Agent == "" {
		c.Agent = name
	}
	return c
}

// model returns the language model that Codex names in the _meta of a call.
func model(meta json.RawMessage) string {
	if meta == nil || !isObject(meta) {
		return ""
	}
	p := params{raw: meta}
	return p.text("model")
}
