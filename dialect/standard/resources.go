package standard

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

const (
	markdown = "text/markdown"
	sessions = "sequent://sessions"
)

func (d *server) resources() []dialect.Resource {
	return []dialect.Resource{
		{
			URI: sessions, Name: "sessions", Title: "Thinking sessions",
			Description: "The latest sessions, newest first.", MIME: markdown, Read: d.readSessions,
		},
		{
			URI: "sequentialthinking://documentation", Name: "documentation", Title: "Sequential Thinking documentation",
			Description: "What the tools do, with examples.", MIME: markdown,
			Read: func(context.Context, tool.Caller) (string, error) { return documentation, nil },
		},
	}
}

func (d *server) templates() []dialect.Template {
	var list []dialect.Template
	document := func(suffix, name, form, mime string, render func(*sequent.Session) string) {
		if render == nil {
			return
		}
		list = append(list, dialect.Template{
			URI: sessions + "/{id}" + suffix, Name: name, Title: "Session as " + form,
			Description: "One session, by its id, as " + form + ".",
			MIME:        mime,
			Read: func(ctx context.Context, c tool.Caller, id string) (string, error) {
				s, err := d.engine.Owned(c.Owner).Session(ctx, sequent.ID(id))
				if err != nil {
					return "", err
				}
				if textSize(s) <= d.limit { // otherwise do not even render it
					if text := render(s); len(text) <= d.limit {
						return text, nil
					}
				}
				return "", sequent.Errorf(sequent.CodeLimitExceeded, "uri", "read the session in parts with recall_thinking, or export it with `sequent export`",
					"the document of this session is larger than %d bytes", d.limit)
			},
			Complete: d.completeSession,
			Watch: func(ctx context.Context, c tool.Caller, id string, changed func(gone bool)) (stop func(), err error) {
				return dialect.WatchSession(ctx, d.engine.Owned(c.Owner), sequent.ID(id), changed)
			},
		})
	}
	document("", "session", "Markdown", markdown, d.render.Markdown)
	document("/json", "session-json", "JSON", "application/json", d.render.JSON)
	document("/mermaid", "session-mermaid", "Mermaid", "text/vnd.mermaid", d.render.Mermaid)
	return list
}

// textSize returns the number of bytes that the texts of s have.
func textSize(s *sequent.Session) (n int) {
	for t := range s.All() {
		n += len(t.Text) + len(t.Note)
	}
	return n
}

// readSessions returns a list of sessions with links to their documents.
func (d *server) readSessions(ctx context.Context, c tool.Caller) (string, error) {
	found, err := d.engine.Owned(c.Owner).Sessions(ctx, sequent.Query{})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Thinking sessions\n")
	if len(found.Headers) == 0 {
		b.WriteString("\nNone yet.\n")
	}
	for i, h := range found.Headers {
		if i == 0 {
			b.WriteByte('\n')
		}
		name := plain(string(h.ID))
		if d.render.Markdown != nil {
			name = fmt.Sprintf("[%s](%s/%s)", name, sessions, url.PathEscape(string(h.ID)))
		}
		fmt.Fprintf(&b, "- %s: %s (%s, %s, %s)\n",
			name, plain(h.Title), h.State, thoughts(h.Len), h.Updated.Format(brief.Minute))
	}
	if found.Next != "" {
		b.WriteString("\nOlder ones are found with recall_thinking.\n")
	}
	return b.String(), nil
}

// plain escapes a text for Markdown.
func plain(s string) string {
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "!", `\!`,
	).Replace(s)
}

// completeSession returns the ids with a prefix among the sessions used last.
func (d *server) completeSession(ctx context.Context, c tool.Caller, prefix string) ([]string, error) {
	const most = 100
	return d.idsWith(ctx, c.Owner, "", prefix, most)
}

// idsWith returns the ids with a prefix among the sessions used last, of a project or of all.
func (d *server) idsWith(ctx context.Context, owner, project, prefix string, most int) ([]string, error) {
	const maxRead = 1000
	ids := []string{}
	read := 0
	for h, err := range d.engine.Owned(owner).AllSessions(ctx, sequent.Query{Project: project, Limit: 200}) {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(string(h.ID), prefix) {
			ids = append(ids, string(h.ID))
		}
		if read++; read == maxRead || len(ids) == most {
			break
		}
	}
	return ids, nil
}
