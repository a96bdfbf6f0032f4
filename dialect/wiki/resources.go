package wiki

import (
	"context"
	"errors"
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
	v, err := d.open(ctx, c.Owner)
	if err != nil {
		return "", err
	}
	uri, err := vault.PathURI(path)
	var note *vault.Note
	if err == nil {
		note, err = v.Notes.Read(ctx, uri)
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok && isMissing(err) {
		err = &sequent.Error{Code: sequent.CodeSessionNotFound, Field: "uri", Msg: e.Msg, Fix: e.Fix} // the code that transports know
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
	if len(text) > d.limit {
		const head = "The beginning of this note is left out, because the note has %d bytes. The whole is in the vault: %s\n\n"
		first := fmt.Sprintf(head, len(text), note.URI.Path())
		end := text[len(text)-max(d.limit-len(first), 0):]
		if _, rest, ok := strings.Cut(end, "\n"); ok {
			end = rest
		}
		text = first + end
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func (d *server) completeNote(ctx context.Context, c tool.Caller, prefix string) ([]string, error) {
	v, err := d.open(ctx, c.Owner)
	if err != nil {
		return nil, err
	}
	const limit = 100
	list, err := v.Notes.Recent(ctx, prefix, limit)
	paths := []string{}
	for _, n := range list {
		paths = append(paths, n.URI.Path())
	}
	return paths, err
}

func (d *server) recent(ctx context.Context, c tool.Caller) (string, error) {
	v, err := d.open(ctx, c.Owner)
	if err != nil {
		return "", err
	}
	const limit = 50
	list, err := v.Notes.Recent(ctx, "", limit)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Recent notes\n\n")
	if len(list) == 0 {
		b.WriteString("None yet.\n")
	}
	for _, n := range list {
		fmt.Fprintf(&b, "- <%s> (%s)\n", n.URI, n.Modified.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return b.String(), nil
}
