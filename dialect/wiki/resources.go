package wiki

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

const markdown = "text/markdown"

// Notes are all notes of a vault.
type Notes interface {
	// Read returns the text of a note. If there is none, the error matches
	// ErrNotFound.
	Read(ctx context.Context, uri string) (string, error)

	// Recent returns the notes changed last, newest first, at most so many.
	Recent(ctx context.Context, most int) ([]Note, error)

	// Complete returns the paths of notes, as they follow memory://, that begin
	// with a prefix; those changed last first, at most so many.
	Complete(ctx context.Context, prefix string, most int) ([]string, error)
}

// A Note is a note in a list.
type Note struct {
	URI      string
	Modified time.Time
}

// A vault has as many notes as a person has thoughts, so that no list of
// resources could hold them: there is a template for all of them, and one
// document that links to the latest.
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
	text, err := v.Notes.Read(ctx, path)
	if e, ok := errors.AsType[*sequent.Error](err); ok && isNone(e) {
		err = &sequent.Error{Code: sequent.CodeSessionNotFound, Field: "uri", Msg: e.Msg, Fix: e.Fix} // as transports know it
	}
	return text, err
}

func (d *server) completeNote(ctx context.Context, c tool.Caller, prefix string) ([]string, error) {
	v, err := d.open(ctx, c.Owner)
	if err != nil {
		return nil, err
	}
	const most = 100
	return v.Notes.Complete(ctx, prefix, most)
}

func (d *server) recent(ctx context.Context, c tool.Caller) (string, error) {
	v, err := d.open(ctx, c.Owner)
	if err != nil {
		return "", err
	}
	const most = 50
	list, err := v.Notes.Recent(ctx, most)
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
