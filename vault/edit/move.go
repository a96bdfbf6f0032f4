package edit

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// Moved is the result of a move.
type Moved struct {
	Note  *vault.Note // at its new place
	Links int         // that were changed
	Notes []vault.URI // with changed links
	Left  []error     // for each note whose links could not be changed, a *sequent.Error
}

// Move gives a note another URI. Before that, it changes the links to it in all notes: WikiLinks
// with its path or, if no other note has its name, with its name; and its memory:// URI.
// Aliases and fragments of links stay. The checksum of the note may be empty.
//
// Cancelling ctx does not stop a move that has begun. If the process is killed meanwhile, the
// note has its old URI, and the same call does the rest.
func (e *Editor) Move(ctx context.Context, from, to vault.URI, checksum string) (m Moved, err error) {
	if from, err = e.open(from, "uri"); err != nil {
		return m, err
	}
	if to == "" {
		return m, invalid("to", "to is missing", "give the new memory:// URI")
	}
	if to, err = e.open(to, "to"); err != nil {
		return m, err
	}
	if from == to {
		return m, invalid("to", "to is the URI that the note has", "give another one")
	}
	if strings.ContainsAny(to.Path(), "#[]^`") {
		return m, invalid("to", "a WikiLink cannot contain the characters #, [, ], ^ and `", "choose a name without them")
	}
	mv := move{from: from, to: to}
	if err = e.prepare(ctx, &mv, checksum); err != nil {
		return m, err
	}
	ctx = context.WithoutCancel(ctx)
	for info, err := range e.cfg.Vault.Walk(ctx, "") {
		links := 0
		if err == nil {
			links, err = e.follow(ctx, mv, info.URI)
		}
		switch {
		case err != nil && !errors.Is(err, vault.ErrNotFound) && sequent.CodeOf(err) != vault.CodeInvalidURI:
			m.Left = append(m.Left, err)
		case err == nil && links > 0:
			m.Links += links
			m.Notes = append(m.Notes, info.URI)
		}
	}
	if err = e.cfg.Vault.Rename(ctx, from, to); err != nil {
		return m, err
	}
	for i, uri := range m.Notes {
		if uri == from { // it links to itself
			m.Notes[i] = to
		}
	}
	m.Note, err = e.cfg.Vault.Read(ctx, to)
	return m, err
}

// A move is what a note was called and is to be called.
type move struct {
	from, to vault.URI
	name     bool // links by the note's name alone follow: no other note has it
}

// prepare refuses a move that cannot be made.
func (e *Editor) prepare(ctx context.Context, mv *move, checksum string) error {
	n, err := e.cfg.Vault.Read(ctx, mv.from)
	if err == nil {
		err = match(n, checksum)
	}
	if err != nil {
		return err
	}
	_, err = e.cfg.Vault.Stat(ctx, mv.to)
	switch {
	case err == nil && !strings.EqualFold(mv.from.Path(), mv.to.Path()): // else it can be the same file
		return sequent.Errorf(vault.CodeExists, "to", "choose another name, or update the note", "%s already exists", mv.to)
	case err != nil && !errors.Is(err, vault.ErrNotFound):
		return err
	}
	name := wikilink.Normalize(mv.from.Name())
	notes, err := e.cfg.Vault.Recent(ctx, "")
	mv.name = !slices.ContainsFunc(notes, func(info vault.Info) bool {
		return info.URI != mv.from && wikilink.Normalize(info.URI.Name()) == name
	})
	return err
}

// follow changes the links in a note, and returns their number.
func (e *Editor) follow(ctx context.Context, mv move, uri vault.URI) (links int, err error) {
	n, err := e.cfg.Vault.Read(ctx, uri)
	if err == nil {
		links, err = mv.apply(n)
	}
	if links > 0 && err == nil {
		_, err = e.cfg.Vault.Update(ctx, uri, func(n *vault.Note) (err error) {
			links, err = mv.apply(n)
			return err
		})
	}
	return links, err
}

// apply changes the links in a note and returns their number.
func (mv move) apply(n *vault.Note) (links int, err error) {
	body, links := mv.replace(n.Body, wikilink.Parse([]byte(n.Body)))
	front, more := mv.replace(n.Front.Text(), wikilink.InText(n.Front.Text()))
	if more > 0 && n.Front.Err() == nil {
		if err := n.Front.SetText(front); err != nil {
			return 0, &sequent.Error{
				Code: vault.CodeFrontMatter, Err: err,
				Msg: fmt.Sprintf("the links in the front matter of %s cannot be changed", n.URI), Fix: "change them in an editor",
			}
		}
		links += more
	}
	n.Body = body
	return links, nil
}

// memoryURI matches the URIs of notes in a text.
var memoryURI = lazyregexp.New("memory://[^\\s<>\"'()\\[\\]{}|^`#*]+")

// replace changes links and memory:// URIs in a text.
func (mv move) replace(text string, links []wikilink.Link) (string, int) {
	var b strings.Builder
	count, at := 0, 0
	for _, l := range links {
		if target, ok := mv.target(l.Target); ok {
			i := l.Start + strings.Index(text[l.Start:l.Stop], l.Target)
			b.WriteString(text[at:i] + target)
			at = i + len(l.Target)
			count++
		}
	}
	b.WriteString(text[at:])
	from, to := strings.TrimSuffix(string(mv.from), ".md"), strings.TrimSuffix(string(mv.to), ".md")
	return memoryURI().ReplaceAllStringFunc(b.String(), func(uri string) string {
		if strings.TrimSuffix(strings.TrimRight(uri, ".,;:!?"), ".md") != from {
			return uri
		}
		count++
		return to + uri[len(from):]
	}), count
}

// target returns the new target of a link to the moved note, or false for another link.
func (mv move) target(target string) (string, bool) {
	name, ext := target, path.Ext(target)
	if strings.EqualFold(ext, ".md") {
		name = noExt(target)
	} else {
		ext = ""
	}
	from, to := noExt(mv.from.Path()), noExt(mv.to.Path())
	switch {
	case strings.Contains(name, "/"):
		return to + ext, strings.EqualFold(strings.TrimPrefix(name, "/"), from)
	case path.Base(from) == path.Base(to): // only the folder changes
		return "", false
	}
	return path.Base(to) + ext, mv.name && wikilink.Normalize(name) == wikilink.Normalize(path.Base(from))
}

func noExt(p string) string { return p[:len(p)-len(path.Ext(p))] }
