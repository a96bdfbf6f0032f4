package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/redact"
)

// compute waits for a turn to compute, and answers with the document that read returns.
func (x *exchange) compute(read func(context.Context) (any, error)) error {
	done, err := x.heavy(x.r.Context())
	if err != nil {
		return err
	}
	defer done()
	document, err := read(x.r.Context())
	if err != nil {
		return err
	}
	return x.reply(document)
}

// read returns a method that answers with a document of the API.
func read(document func(context.Context, reading) (any, error)) method {
	return func(x *exchange) error {
		return x.compute(func(ctx context.Context) (any, error) {
			return document(ctx, reading{x.engine, x.query(), x.session, x.public, x.linked != nil})
		})
	}
}

type noteBody struct {
	ID   string `json:"id"`
	Seq  int    `json:"seq"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// note records what a person says about a thought.
func (x *exchange) note(in noteBody) error {
	if err := x.needOwn("notes are"); err != nil {
		return err
	}
	note := sequent.Note{Seq: in.Seq, Kind: sequent.NoteKind(in.Kind), Text: in.Text, From: x.granted.Subject}
	s, err := x.engine.Update(x.r.Context(), sequent.ID(in.ID), func(c *sequent.Change) error { return c.AddNote(note) })
	if err != nil {
		return err
	}
	notes := s.Notes()
	return x.reply(notes[len(notes)-1])
}

// export answers with a session as a file, in which secrets can be masked.
func (x *exchange) export() error {
	done, err := x.heavy(x.r.Context())
	if err != nil {
		return err
	}
	defer done()
	q := x.r.URL.Query()
	for name := range q { // a file must not look masked and not be
		if !slices.Contains([]string{"id", "format", "secrets", "owner"}, name) {
			return invalid(name, "is not known")
		}
	}
	mask, err := strconv.ParseBool(cmp.Or(q.Get("secrets"), "false"))
	if err != nil {
		return invalid("secrets", "must be true or false")
	}
	media, body, found, err := export(x.r.Context(), x.engine, sequent.ID(q.Get("id")), q.Get("format"), mask)
	if err != nil {
		return err
	}
	count := 0
	for _, f := range found {
		count += f.Count
	}
	x.w.Header().Set("Sequent-Redacted", strconv.Itoa(count))
	x.send(http.StatusOK, media, body)
	return nil
}

// Limits of a session that is exported: a file is in memory several times while it is made.
const (
	maxFile = 10 << 20 // bytes of texts in JSON
	maxHTML = 2 << 20  // of texts in a page, whose Markdown takes time
	rowSize = 300      // bytes of a thought besides
)

func tooLarge(message string) error {
	return sequent.Errorf(sequent.CodeLimitExceeded, "id", "run sequent export, with --server and the URL of this server if the store is elsewhere",
		"%s", message)
}

// export returns a file of a session, its media type, and what was masked in it.
func export(ctx context.Context, e *sequent.Engine, id sequent.ID, format string, mask bool) (
	media string, body []byte, found []redact.Finding, err error,
) {
	s, err := e.Session(ctx, id)
	if err != nil {
		return "", nil, nil, err
	}
	size, most := 0, maxFile
	if format == "html" {
		most = maxHTML
	}
	for t := range s.All() {
		if size += rowSize + len(encoded(t.Text)) + len(encoded(t.Note)); size > most {
			return "", nil, nil, tooLarge(fmt.Sprintf("the session has more than %d MiB of text, the limit of such a file from a server", most>>20))
		}
	}
	var h sequent.Header
	var entries []sequent.Entry
	if mask || format == "json" {
		if h, entries, err = e.Entries(ctx, id, sequent.Position{}); err != nil {
			return "", nil, nil, err
		}
	}
	if mask {
		if h, entries, found, err = redact.Session(ctx, h, entries, redact.Secrets()); err == nil {
			s, err = redact.Snapshot(ctx, h, entries)
		}
		if err != nil {
			return "", nil, nil, unmaskable(err)
		}
	}
	switch format {
	case "json":
		return "application/json", archive.Log(h, entries), found, nil
	case "html":
		body, err := File(ctx, s, found)
		return "text/html; charset=utf-8", body, found, err
	case "mermaid":
		return "text/plain; charset=utf-8", []byte(archive.Mermaid(s)), found, nil
	case "md", "":
		return "text/markdown; charset=utf-8", []byte(archive.Markdown(s)), found, nil
	}
	return "", nil, nil, invalid("format", "must be html, md, json or mermaid")
}

// query returns the parameters of the request. Those of a link say which part of its session
// is wanted, and cannot name another one.
func (x *exchange) query() url.Values {
	all := x.r.URL.Query()
	if x.linked != nil {
		for _, name := range []string{"owner", "all", "project"} {
			all.Del(name)
		}
		all.Set("id", x.linked.Session)
	}
	return all
}

// public takes from a document what the client may not see: with a link, what only tells
// whose the session is, where it was recorded, and its id.
func (x *exchange) public(d *Document) {
	if x.linked != nil {
		h := d.Session
		d.Session = sequent.Header{
			Key: sequent.Key{ID: sequent.ID(x.linked.ID)}, Version: h.Version, Len: h.Len, Branches: h.Branches, State: h.State, Title: h.Title,
			Dialect: h.Dialect, Conclusion: h.Conclusion, Created: h.Created, Updated: h.Updated, Origin: sequent.Origin{Client: h.Origin.Client, Model: h.Origin.Model},
		}
		for i := range d.Notes {
			d.Notes[i].From = ""
		}
	}
}
