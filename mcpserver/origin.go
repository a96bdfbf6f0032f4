package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"path"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// firstRoot returns the first directory of a reply to roots/list, or "".
func firstRoot(result json.RawMessage) string {
	var list struct{ Roots []struct{ URI string } }
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
	if !windows {
		return dir
	}
	if len(dir) >= 3 && dir[2] == ':' { // /C:/Users
		dir = dir[1:]
	}
	if u.Host != "" && u.Host != "localhost" {
		dir = "//" + u.Host + dir
	}
	return strings.ReplaceAll(dir, "/", `\`)
}

// trace adds to ctx where a request comes from, and agent and project to its caller.
func (s *Server) trace(ctx context.Context, r *request) context.Context {
	if s.config.NoOrigin {
		return ctx
	}
	said, head := s.origin(r)
	o := sequent.OriginOf(sequent.WithOrigin(ctx, func() sequent.Origin { return said })) // without credentials
	r.Caller.Agent, r.Caller.Scope.Project = o.Agent, cmp.Or(o.Project, r.Caller.Scope.Project)
	return sequent.WithOrigin(ctx, func() sequent.Origin {
		o := o
		o.Model = model(r.Meta.Codex)
		if head != nil {
			o.GitBranch, o.Commit = head()
		}
		return o
	})
}

// origin returns client, agent and project of a request, and what reads the branch and
// commit of the project; nil if they are not known.
func (s *Server) origin(r *request) (o sequent.Origin, head func() (branch, commit string)) {
	client, root := r.client, ""
	if !r.Modern {
		client, root = r.conn.client()
	}
	o.Client, o.ClientVersion = client.Name, client.Version
	switch {
	case r.Via.Project != "":
		o.Project = r.Via.Project
	case s.config.Place != nil && (root != "" || r.Via.Transport == overPipe):
		o.Project, head = s.config.Place(root)
	}
	o.Project, o.Agent = cmp.Or(o.Project, root), cmp.Or(r.Via.Agent, o.Client)
	return o, head
}

// model returns the language model that Codex names in the _meta of a call.
func model(meta json.RawMessage) string {
	var m struct{ Model string }
	if meta == nil || json.Unmarshal(meta, &m) != nil {
		return ""
	}
	return m.Model
}

// A clientInfo is the description of a client.
type clientInfo struct{ Name, Version, Title, WebsiteURL string }

// capabilities are those of a client that the protocol defines. They are objects; others can
// be anything.
type capabilities struct {
	Elicitation, Experimental, Extensions, Roots, Sampling map[string]json.RawMessage
}

// objectIn decodes an object, and returns false if raw is none.
func objectIn[T any](raw json.RawMessage) (v T, ok bool) {
	if string(raw) == "{}" { // as most capabilities
		return v, true
	}
	return v, isObject(raw) && json.Unmarshal(raw, &v) == nil
}

// showsApps reports whether a client shows pages.
func (c capabilities) showsApps() bool {
	extension, ok := objectIn[struct{ MIMETypes *[]string }](c.Extensions[appsExtension])
	return ok && (extension.MIMETypes == nil || slices.Contains(*extension.MIMETypes, appMIME))
}

// showsApps reports whether the client of a request shows pages.
func (r *request) showsApps() bool {
	if r.Modern {
		return r.capabilities.showsApps()
	}
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	return r.conn.can.showsApps()
}

// describe reads what a request of the modern era says about its client.
func (r *request) describe() *rpcError {
	ok := true
	if r.Meta.Client != nil {
		r.client, ok = objectIn[clientInfo](r.Meta.Client)
	}
	if !ok {
		return invalidParams("invalid _meta field %q", metaClient)
	}
	if r.capabilities, ok = objectIn[capabilities](r.Meta.Capabilities); !ok {
		return invalidParams("missing or invalid _meta field %q", metaCapabilities)
	}
	return nil
}

// initialize answers the handshake. For a version that is not served, or that has no
// handshake, the answer has the newest one with a handshake.
func (s *Server) initialize(_ context.Context, r *request) (any, error) {
	p, err := decode[struct {
		ProtocolVersion string
		Capabilities    *capabilities
		ClientInfo      *clientInfo
	}](r)
	if err != nil {
		return nil, err
	}
	version := lastHandshake
	if slices.Contains(versions(), p.ProtocolVersion) {
		version = min(p.ProtocolVersion, lastHandshake)
	}
	r.conn.introduce(p.ClientInfo, p.Capabilities, version)
	s = s.of(r)
	return struct {
		Version      string          `json:"protocolVersion"`
		Capabilities json.RawMessage `json:"capabilities"`
		Server       json.RawMessage `json:"serverInfo"`
		Instructions string          `json:"instructions,omitempty"`
	}{version, s.capabilities, s.info, s.config.Dialect.Instructions}, nil
}
