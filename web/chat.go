package web

import (
	"cmp"
	"context"
	_ "embed" // the descriptions of the tools
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// chatPage is the URI of the page in a chat.
const chatPage = "ui://sequent/session"

var (
	//go:embed show.json
	showSpec []byte
	//go:embed read.json
	readSpec []byte
)

// InChat returns a dialect with the viewer of an engine's sessions, for clients that show pages in a
// chat (MCP Apps): a tool that shows a session, the page, and a tool from which the page reads. A
// dialect that has tools of these names already is returned unchanged.
func InChat(d dialect.Dialect, e *sequent.Engine) dialect.Dialect {
	show, read := tool.Parse(showSpec, nil), tool.Parse(readSpec, nil)
	if slices.ContainsFunc(d.Tools, func(t tool.Tool) bool { return t.Name == show.Name || t.Name == read.Name }) {
		return d
	}
	show.App = &tool.App{Page: chatPage}
	read.App = &tool.App{Visibility: []string{"app"}}
	s := &chat{e}
	d.Tools = append(slices.Clone(d.Tools), tool.New(show, s.show, reject), tool.New(read, s.read, reject).AsHeavy())
	d.Resources = append(slices.Clone(d.Resources), dialect.Resource{
		URI: chatPage, Name: "session", Title: "Session", Description: "The page of show_thinking.",
		MIME: "text/html;profile=mcp-app", App: true,
		Read: func(context.Context, tool.Caller) (string, error) {
			return pages["chat.js"]().text, nil
		},
	})
	return d
}

// A chat shows the sessions of an engine.
type chat struct{ engine *sequent.Engine }

func (s *chat) of(c tool.Caller) *sequent.Engine {
	if c.Owner == "" {
		return s.engine
	}
	return s.engine.Owned(c.Owner)
}

// A showing has the arguments of show_thinking.
type showing struct {
	SessionID string `json:"sessionId,omitzero"`
	View      string `json:"view,omitzero"`
}

// show answers with what the model needs to know; the client shows the page.
func (s *chat) show(ctx context.Context, c tool.Call, in showing) (tool.Reply, error) {
	e, id := s.of(c.Caller), sequent.ID(in.SessionID)
	if id == "" {
		page, err := e.Sessions(ctx, sequent.Query{Limit: 1})
		if err != nil {
			return refuse(err)
		}
		if len(page.Headers) == 0 {
			return tool.Refusal{Code: "SESSION_NOT_FOUND", Field: "sessionId", Message: "there is no session yet",
				Fix: "record a thought first"}.Reply(), nil
		}
		id = page.Headers[0].ID
	}
	session, err := e.Session(ctx, id)
	if err != nil {
		return refuse(err)
	}
	h := session.Header()
	reply := tool.JSONReply(struct {
		SessionID string `json:"sessionId"`
		View      string `json:"view"`
		Title     string `json:"title"`
		State     string `json:"state"`
		Thoughts  int    `json:"thoughts"`
	}{string(h.ID), cmp.Or(in.View, "read"), h.Title, string(h.State), h.Len})
	reply.Text = fmt.Sprintf("The person sees session %s: %s (%d thoughts, %s). The page follows the session; do not repeat what it shows.",
		h.ID, strings.Join(strings.Fields(h.Title), " "), h.Len, h.State)
	return reply, nil
}

// readArguments are those of read_thinking.
type readArguments struct {
	Document string `json:"document"`
	Query    string `json:"query"`
}

// read answers the page with a document of the viewer's API. A session is named in the
// query; the page can read no list of sessions.
func (s *chat) read(ctx context.Context, c tool.Call, in readArguments) (tool.Reply, error) {
	query, err := url.ParseQuery(in.Query)
	if err != nil || query.Get("id") == "" {
		return tool.Refusal{Code: "INVALID_ARGUMENT", Field: "query", Message: "the query names no session as id"}.Reply(), nil
	}
	document, ok := readers[in.Document]
	if !ok {
		return refuse(invalid("document", "is not a document of the API"))
	}
	e := s.of(c.Caller)
	doc, err := document(ctx, reading{e, query, e.Session, func(*Document) {}, false})
	if err != nil {
		return refuse(err)
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return tool.Reply{}, err
	}
	return tool.Reply{Text: "A document for the page.", JSON: body}, nil
}

func reject(err *tool.ArgumentError) (tool.Reply, error) {
	return tool.Refusal{Code: "INVALID_ARGUMENT", Field: err.Field, Message: err.Error()}.Reply(), nil
}

// refuse returns an error of the caller as a refusal; others are the server's.
func refuse(err error) (tool.Reply, error) {
	if e, ok := errors.AsType[*Refusal](err); ok {
		return tool.Refusal{Code: strings.ToUpper(e.Code), Field: e.Field, Message: e.Message, Fix: e.Fix}.Reply(), nil
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok && e.Code != sequent.CodeInternal {
		return tool.Refusal{Code: strings.ToUpper(string(e.Code)), Field: e.Field, Message: e.Msg, Fix: e.Fix}.Reply(), nil
	}
	return tool.Reply{}, err
}
