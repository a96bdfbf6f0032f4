package mcpserver

import (
	"context"
	"encoding/json"
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

// template returns the template that a URI matches, and the value of its variable; nil if there is none.
func (s *Server) template(uri string) (*template, string) {
	for i := range s.templates {
		t := &s.templates[i]
		inner, begins := strings.CutPrefix(uri, t.before)
		inner, ends := strings.CutSuffix(inner, t.after)
		value, err := url.PathUnescape(inner)
		if begins && ends && err == nil && value != "" && (t.slashes || !strings.Contains(inner, "/")) {
			return t, value
		}
	}
	return nil, ""
}

// A document is the content of a resource.
type document struct {
	URI  string          `json:"uri"`
	MIME string          `json:"mimeType,omitempty"`
	Text string          `json:"text"`
	Meta json.RawMessage `json:"_meta,omitempty"`
}

// appPage is the _meta of a page.
var appPage = json.RawMessage(`{"ui":{"permissions":{"clipboardWrite":{}},"prefersBorder":true}}`)

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
	d.MIME, d.Text, err = s.read(ctx, r.Caller, d.URI)
	if err != nil {
		return nil, notFound(err, p.URI, r.Modern)
	}
	if d.MIME == appMIME {
		d.Meta = appPage
	}
	// A document can be private, and changes with every call.
	return struct {
		cacheable
		Contents []document `json:"contents"`
	}{cacheable{0, "private"}, []document{d}}, nil
}

// read returns the document at a URI. The error matches sequent.ErrNotFound if there
// is none.
func (s *Server) read(ctx context.Context, c tool.Caller, uri string) (mime, text string, err error) {
	for _, r := range s.config.Dialect.Resources {
		if r.URI == uri {
			text, err = r.Read(ctx, c)
			return r.MIME, text, err
		}
	}
	t, value := s.template(uri)
	if t == nil {
		return "", "", sequent.ErrNotFound
	}
	text, err = t.Read(ctx, c, value)
	return t.MIME, text, err
}

// watch calls changed each time the document at a URI has changed, until the returned
// function is called. Gone means that the document does not exist any more; it is the
// last call. Changed must not block. The error matches sequent.ErrNotFound if there is no
// such document, or if its changes are not reported.
func (s *Server) watch(ctx context.Context, c tool.Caller, uri string, changed func(gone bool)) (stop func(), err error) {
	t, value := s.template(uri)
	if t == nil || t.Watch == nil {
		return nil, sequent.ErrNotFound
	}
	return t.Watch(ctx, c, value, changed)
}

// subscribe answers resources/subscribe.
func (s *Server) subscribe(ctx context.Context, r *request) (any, error) {
	p, err := decode[uriParams](r)
	if err == nil {
		err = r.conn.subscriptions.add(ctx, r.Caller, p.URI)
	}
	return struct{}{}, notFound(err, p.URI, r.Modern)
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

// notFound returns the error of the era for a URI without a document, if err matches sequent.ErrNotFound, else err.
func notFound(err error, uri string, modern bool) error {
	if !errors.Is(err, sequent.ErrNotFound) {
		return err
	}
	code := codeNoResource
	if modern {
		code = codeInvalidParams
	}
	return &rpcError{Code: code, Message: "Resource not found", Data: mustMarshal(map[string]string{"uri": uri})}
}
