package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"path"
	"runtime"
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
