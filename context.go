package sequent

import (
	"context"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Context tells where a session comes from, as far as it is known. It is shown and
// found, and decides what [Query.Project] selects; nothing else depends on it.
//
// A session gets the one of the call that begins it; see [WithContext].
type Context struct {
	Client        string `json:"client,omitempty"` // the program that the agent runs in, such as claude-code
	ClientVersion string `json:"clientVersion,omitempty"`
	Agent         string `json:"agent,omitempty"`   // tells agents of one client apart
	Model         string `json:"model,omitempty"`   // the language model, where the client says it
	Project       string `json:"project,omitempty"` // a repository's URL without credentials, or a directory; compared as a whole
	GitBranch     string `json:"gitBranch,omitempty"`
	Commit        string `json:"commit,omitempty"`
}

type contextKey struct{}

// WithContext returns a context for the calls of a client: the sessions that they begin
// come from there.
func WithContext(ctx context.Context, c Context) context.Context {
	return context.WithValue(ctx, contextKey{}, c.clean())
}

// ContextOf returns what [WithContext] has added to ctx, or the zero Context.
func ContextOf(ctx context.Context) Context {
	c, _ := ctx.Value(contextKey{}).(Context)
	return c
}

// maxContext is the maximum number of characters of a field of a [Context].
const maxContext = 1024

// clean returns c as a session can record it: without characters that do not print, and
// with at most maxContext characters a field, and without credentials in the URL of the
// project. What a client says of itself never makes a call fail.
func (c Context) clean() Context {
	c.Project = public(c.Project)
	for _, value := range c.fields() {
		*value = clean(*value)
	}
	return c
}

func clean(s string) string {
	if isPlain(s) {
		return s
	}
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s))
	if utf8.RuneCountInString(s) > maxContext {
		s = string([]rune(s)[:maxContext])
	}
	return s
}

// fields yields the names of the fields in a log, and the fields.
func (c *Context) fields() iter.Seq2[string, *string] {
	return func(yield func(string, *string) bool) {
		_ = yield("context.client", &c.Client) &&
			yield("context.clientVersion", &c.ClientVersion) &&
			yield("context.agent", &c.Agent) &&
			yield("context.model", &c.Model) &&
			yield("context.project", &c.Project) &&
			yield("context.gitBranch", &c.GitBranch) &&
			yield("context.commit", &c.Commit)
	}
}

// InProject reports whether a session with this context is among those of a project.
// Those without a project are among those of every one.
func (c *Context) InProject(project string) bool {
	return project == "" || c.Project == "" || c.Project == project
}

// MaxElsewhere is the number up to which [Engine.Elsewhere] counts.
const MaxElsewhere = 100

// Elsewhere returns how many sessions there are of other projects than this one, at most
// [MaxElsewhere]. For the empty project it returns 0. Errors are those of
// [Engine.Sessions].
func (e *Engine) Elsewhere(ctx context.Context, project string) (int, error) {
	if project == "" {
		return 0, nil
	}
	page, err := e.Sessions(ctx, Query{Elsewhere: project, Limit: MaxElsewhere})
	return len(page.Headers), err
}

// isPlain reports whether clean changes nothing of s, for most strings that it does not
// change.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= utf8.RuneSelf-1 {
			return false
		}
	}
	return len(s) <= maxContext
}

// public returns the URL of a repository, or an address such as host:path, without user,
// password, query and fragment. It returns other texts as they are.
func public(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		if host, path, ok := strings.Cut(url, ":"); ok && !strings.ContainsAny(host, `/\`) && len(host) > 1 {
			return host[strings.LastIndexByte(host, '@')+1:] + ":" + path
		}
		return url // a path
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	// A password that is not encoded can have a slash.
	if _, port, ok := strings.Cut(rest[:end], ":"); ok && strings.Trim(port, "0123456789") != "" && !strings.ContainsAny(rest[:end], "@[") {
		end = max(end, strings.LastIndexByte(rest, '@'))
	}
	authority, path := rest[:end], rest[end:]
	if path != "" && path[0] == '@' {
		authority, path = "", path[1:]
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	if at := strings.IndexAny(path, "?#"); at >= 0 {
		path = path[:at]
	}
	return scheme + "://" + authority + path
}
