package method

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
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

// readResource answers resources/read.
func (s *Server) readResource(ctx context.Context, r *Request, result []byte) ([]byte, error) {
	p := params{raw: r.Params}
	said := p.text("uri")
	if p.bad {
		return nil, badParams(r)
	}
	if err := r.begin(ctx, tool.Heavy); err != nil { // a document can be a whole session
		return nil, err
	}
	defer r.end(tool.Heavy)
	uri := escaped(said)
	mime, text, err := s.document(ctx, r.Caller, uri)
	if errors.Is(err, sequent.ErrNotFound) {
		return nil, notFound(said, r.Modern)
	}
	if err != nil {
		return nil, err
	}
	if err := r.room(len(text)); err != nil {
		return nil, err
	}
	result = slices.Grow(result, len(text)+len(text)/8+len(uri)+256) // a session can be large
	// A document can be private, and changes with every call.
	result = appendMembers(result, []byte(`"ttlMs":0,"cacheScope":"private"`))
	result = message.AppendName(result, "contents")
	result = append(result, `[{`...)
	result = message.AppendName(result, "uri")
	result = message.AppendQuoted(result, uri)
	if mime != "" {
		result = message.AppendName(result, "mimeType")
		result = message.AppendQuoted(result, mime)
	}
	result = message.AppendName(result, "text")
	result = message.AppendQuoted(result, text)
	if mime == appMIME {
		result = append(result, `,"_meta":{"ui":{"permissions":{"clipboardWrite":{}},"prefersBorder":true}}`...)
	}
	return append(result, `}]`...), nil
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

// Watch calls changed each time the document at a URI has changed, until the returned
// function is called. Gone means that the document does not exist any more; it is the
// last call. Changed must not block. The error matches sequent.ErrNotFound if there is no
// such document, or if its changes are not reported.
func (s *Server) Watch(ctx context.Context, c tool.Caller, uri string, changed func(gone bool)) (stop func(), err error) {
	for i := range s.templates {
		t := &s.templates[i]
		if value, ok := t.value(uri); ok && t.Template.Watch != nil {
			return t.Template.Watch(ctx, c, value, changed)
		}
	}
	return nil, sequent.ErrNotFound
}

// subscribe answers resources/subscribe.
func (s *Server) subscribe(ctx context.Context, r *Request, result []byte) ([]byte, error) {
	p := params{raw: r.Params}
	uri := p.text("uri")
	if p.bad {
		return nil, badParams(r)
	}
	err := r.Subscriptions.Subscribe(ctx, r.Caller, uri)
	if errors.Is(err, sequent.ErrNotFound) {
		err = notFound(uri, r.Modern)
	}
	return result, err
}

// unsubscribe answers resources/unsubscribe.
func (s *Server) unsubscribe(_ context.Context, r *Request, result []byte) ([]byte, error) {
	p := params{raw: r.Params}
	uri := p.text("uri")
	if p.bad {
		return nil, badParams(r)
	}
	r.Subscriptions.Unsubscribe(uri)
	return result, nil
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

// notFound returns the error of the era for a URI without a document.
func notFound(uri string, modern bool) *message.Error {
	code := message.CodeNoResource
	if modern {
		code = message.CodeInvalidParams
	}
	data := slices.Concat([]byte(`{"uri":`), message.AppendQuoted(nil, uri), []byte(`}`))
	return &message.Error{Code: code, Message: "Resource not found", Data: data}
}
