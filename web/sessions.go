package web

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/redact"
)

// read answers with a document.
func (v *visit) read(d document) error {
	if !d.light || v.masks != nil {
		done, err := v.heavy()
		if err != nil {
			return err
		}
		defer done()
	}
	doc, err := d.read(v.reading())
	if err != nil {
		return err
	}
	return v.reply(v.public(doc))
}

// reading returns the request for a document.
func (v *visit) reading() reading {
	return reading{v.r.Context(), v.engine, v.query(), v.session}
}

// note records what a person says about a thought.
func (v *visit) note() error {
	if v.h.config.ReadOnly {
		return &Refusal{Status: http.StatusForbidden, Code: "read_only", Message: "this server records no notes"}
	}
	if err := v.need(auth.Write); err != nil {
		return err
	}
	if v.h.config.Auth != nil && v.engine.Owner() != v.granted.Subject {
		return &Refusal{Status: http.StatusForbidden, Code: "insufficient_scope", Message: "notes are for sessions of one's own", Fix: "ask their owner to record it"}
	}
	var in struct {
		ID   string `json:"id"`
		Seq  int    `json:"seq"`
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	if err := v.body(&in); err != nil {
		return err
	}
	note := sequent.Note{Seq: in.Seq, Kind: sequent.NoteKind(in.Kind), Text: in.Text, From: v.granted.Subject}
	s, err := v.engine.Update(v.r.Context(), sequent.ID(in.ID), func(c *sequent.Change) error { return c.AddNote(note) })
	if err != nil {
		return err
	}
	notes := s.Notes()
	return v.reply(newNote(notes[len(notes)-1]))
}

// export answers with the session as a file.
func (v *visit) export() error {
	q := v.r.URL.Query()
	return v.sendExport(exporting{ID: q.Get("id"), Format: q.Get("format")})
}

// exportRedacted answers with the session as a file in which texts are masked. The
// expressions are in the body, since they may be what must not be in a log of URLs.
func (v *visit) exportRedacted() error {
	var x exporting
	if err := v.body(&x); err != nil {
		return err
	}
	return v.sendExport(x)
}

// An exporting says what a file of a session is like.
type exporting struct {
	ID     string `json:"id"`
	Format string `json:"format"` // html, md, json or mermaid; empty means md
	masking
}

func (v *visit) sendExport(x exporting) error {
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	patterns, err := x.patterns()
	if err != nil {
		return err
	}
	media, body, found, err := export(v.r.Context(), v.engine, sequent.ID(x.ID), cmp.Or(x.Format, "md"), patterns)
	if err != nil {
		return err
	}
	count := 0
	for _, f := range found {
		count += f.Count
	}
	v.w.Header().Set("Sequent-Redacted", strconv.Itoa(count))
	v.sendBytes(http.StatusOK, media, body)
	return nil
}

// export returns a file of a session, its media type, and what was masked in it.
func export(ctx context.Context, e *sequent.Engine, id sequent.ID, format string, patterns []redact.Pattern) (media string, body []byte, found []redact.Finding, err error) {
	var s *sequent.Session
	if len(patterns) == 0 && format != "json" {
		s, err = e.Session(ctx, id)
	} else {
		var h sequent.Header
		var entries []sequent.Entry
		if h, entries, err = e.Entries(ctx, id); err != nil {
			return "", nil, nil, err
		}
		if h, entries, found, err = redact.Session(h, entries, patterns); err != nil {
			return "", nil, nil, unmaskable(err)
		}
		if format == "json" {
			return "application/json", archive.Log(h, entries), found, nil
		}
		s, err = redact.Snapshot(ctx, h, entries)
	}
	if err != nil {
		return "", nil, nil, err
	}
	switch format {
	case "html":
		return "text/html; charset=utf-8", Replay(s, found), found, nil
	case "md":
		return "text/markdown; charset=utf-8", []byte(archive.Markdown(s)), found, nil
	case "mermaid":
		return "text/plain; charset=utf-8", []byte(archive.Mermaid(s)), found, nil
	}
	return "", nil, nil, invalid("format", "must be html, md, json or mermaid")
}
