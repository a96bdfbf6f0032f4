package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// A template is a template of the dialect with its parsed URI.
type template struct {
	*dialect.Template
	before, variable, after string
	slashes                 bool // values may contain slashes
}

// newTemplate parses a URI. With a plus before the variable, values may contain slashes
// (RFC 6570).
func newTemplate(t *dialect.Template) template {
	before, rest, ok := strings.Cut(t.URI, "{")
	name, after, closed := strings.Cut(rest, "}")
	name, slashes := strings.CutPrefix(name, "+")
	if !ok || !closed || name == "" || strings.ContainsAny(after, "{}") {
		panic(fmt.Sprintf("mcpserver: template %q must have exactly one variable", t.URI))
	}
	return template{t, before, name, after, slashes}
}

// value returns the value of the variable in a URI, and false if the URI does not match
// the template.
func (t *template) value(uri string) (string, bool) {
	inner, begins := strings.CutPrefix(uri, t.before)
	inner, ends := strings.CutSuffix(inner, t.after)
	if !begins || !ends || strings.Contains(inner, "/") && !t.slashes {
		return "", false
	}
	value, err := url.PathUnescape(inner)
	return value, err == nil && value != ""
}

// A document is the content of a resource.
type document struct {
	URI  string `json:"uri"`
	MIME string `json:"mimeType,omitempty"`
	Text string `json:"text"`
	Meta any    `json:"_meta,omitempty"`
}

// uriParams are the params of methods about one document.
type uriParams struct{ URI string }

// readResource answers resources/read.
func (s *Server) readResource(ctx context.Context, r *request) (any, error) {
	p, err := decode[uriParams](r)
	if err != nil {
		return nil, err
	}
	if err := r.Turn.Take(ctx); err != nil { // a document can be a whole session
		return nil, err
	}
	d := document{URI: escaped(p.URI)}
	d.MIME, d.Text, err = s.document(ctx, r.Caller, d.URI)
	switch {
	case errors.Is(err, sequent.ErrNotFound):
		return nil, noResource(p.URI, r.Modern)
	case err != nil:
		return nil, err
	case d.MIME == appMIME:
		d.Meta = appPage
	}
	// A document can be private, and changes with every call.
	return struct {
		cacheable
		Contents []document `json:"contents"`
	}{cacheable{0, "private"}, []document{d}}, r.room(len(d.Text))
}

// document returns the document at a URI. The error matches sequent.ErrNotFound if there
// is none.
func (s *Server) document(ctx context.Context, c tool.Caller, uri string) (mime, text string, err error) {
	for _, r := range s.dialect.Resources {
		if r.URI == uri {
			text, err = r.Read(ctx, c)
			return r.MIME, text, err
		}
	}
	for i := range s.templates {
		t := &s.templates[i]
		if value, ok := t.value(uri); ok {
			text, err = t.Read(ctx, c, value)
			return t.MIME, text, err
		}
	}
	return "", "", sequent.ErrNotFound
}

// watch calls changed each time the document at a URI has changed, until the returned
// function is called. Gone means that the document does not exist any more; it is the
// last call. Changed must not block. The error matches sequent.ErrNotFound if there is no
// such document, or if its changes are not reported.
func (s *Server) watch(ctx context.Context, c tool.Caller, uri string, changed func(gone bool)) (stop func(), err error) {
	for i := range s.templates {
		t := &s.templates[i]
		if value, ok := t.value(uri); ok && t.Template.Watch != nil {
			return t.Template.Watch(ctx, c, value, changed)
		}
	}
	return nil, sequent.ErrNotFound
}

// subscribe answers resources/subscribe.
func (s *Server) subscribe(ctx context.Context, r *request) (any, error) {
	p, err := decode[uriParams](r)
	if err == nil {
		err = r.conn.subscriptions.add(ctx, r.Caller, p.URI)
	}
	if errors.Is(err, sequent.ErrNotFound) {
		err = noResource(p.URI, r.Modern)
	}
	return struct{}{}, err
}

// unsubscribe answers resources/unsubscribe.
func (s *Server) unsubscribe(_ context.Context, r *request) (any, error) {
	p, err := decode[uriParams](r)
	if err == nil {
		r.conn.subscriptions.remove(p.URI)
	}
	return struct{}{}, err
}

// escaped returns a URI with the escapes that it needs. Models write the names of
// documents like people, with spaces and letters of all scripts.
func escaped(uri string) string {
	var b strings.Builder
	for i := range len(uri) {
		if c := uri[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// noResource returns the error of the era for a URI without a document.
func noResource(uri string, modern bool) *rpcError {
	code := codeNoResource
	if modern {
		code = codeInvalidParams
	}
	return &rpcError{Code: code, Message: "Resource not found", Data: mustMarshal(map[string]string{"uri": uri})}
}
