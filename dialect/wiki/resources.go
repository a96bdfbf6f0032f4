package wiki

import (
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
)

const markdown = "text/markdown"

// A vault has too many notes for a list of resources. One template serves all of
// them, and one resource links to the latest.
func (d *server) resources() []dialect.Resource {
	return []dialect.Resource{{
		URI: "sequent://vault/recent", Name: "recent", Title: "Recent notes",
		Description: "The notes changed last, newest first, with their URIs.", MIME: markdown, Read: d.recent,
	}}
}

func (d *server) templates() []dialect.Template {
	return []dialect.Template{{
		URI: "memory://{+path}", Name: "note", Title: "Note",
		Description: "A note of the vault, by its path: thinking/sequential/{sessionId}.md for a session.",
		MIME:        markdown, Read: d.readNote, Complete: d.completeNote,
	}}
}

func (d *server) readNote(ctx context.Context, c tool.Caller, path string) (string, error) {
	v, err := d.Open(ctx, c.Owner)
	if err != nil {
		return "", err
	}
	uri, err := vault.PathURI(path)
	var note *vault.Note
	if err == nil {
		note, err = v.Notes.Read(ctx, uri)
	}
	if code := sequent.CodeOf(err); code == vault.CodeNotFound || code == vault.CodeInvalidURI || code == vault.CodeNotANote {
		return "", &sequent.Error{Code: sequent.CodeSessionNotFound, Field: "uri", Msg: reason(err)} // the code that transports know
	}
	if err != nil {
		return "", err
	}
	return d.document(note), nil
}

// document returns a note, or the end of one that is larger than the limit, from the
// beginning of a line.
func (d *server) document(note *vault.Note) string {
	text := string(note.Bytes())
	if len(text) > d.ReplyLimit {
		const head = "The beginning of this note is left out, because the note has %d bytes. The whole is in the vault: %s\n\n"
		first := fmt.Sprintf(head, len(text), note.URI.Path())
		end := text[len(text)-max(d.ReplyLimit-len(first), 0):]
		if _, rest, ok := strings.Cut(end, "\n"); ok {
			end = rest
		}
		text = first + end
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// latest returns the notes whose path begins with prefix, last changed first.
func (d *server) latest(ctx context.Context, c tool.Caller, prefix string, limit int) ([]vault.Info, error) {
	v, err := d.Open(ctx, c.Owner)
	if err != nil {
		return nil, err
	}
	return v.Notes.Recent(ctx, prefix, limit)
}

func (d *server) completeNote(ctx context.Context, c tool.Caller, prefix string) ([]string, error) {
	const limit = 100
	list, err := d.latest(ctx, c, prefix, limit)
	paths := []string{}
	for _, n := range list {
		paths = append(paths, n.URI.Path())
	}
	return paths, err
}

func (d *server) recent(ctx context.Context, c tool.Caller) (string, error) {
	const limit = 50
	list, err := d.latest(ctx, c, "", limit)
	var b strings.Builder
	b.WriteString("# Recent notes\n\n")
	if len(list) == 0 {
		b.WriteString("None yet.\n")
	}
	for _, n := range list {
		fmt.Fprintf(&b, "- <%s> (%s)\n", n.URI, n.Modified.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return b.String(), err
}
