package edit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
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

// A record is a move in progress. It is a file in the folder .sequent, from before the
// note is renamed until all links have followed.
type record struct {
	From vault.URI `json:"from"`
	To   vault.URI `json:"to"`
	// Name means that links by the note's name alone follow: no other note had it.
	Name bool `json:"name"`
}

const recordFile = "move" // also the name of the lock

// Move gives a note another URI, and changes the links to it in all notes: WikiLinks with
// its path or, if no other note has its name, with its name; and its memory:// URI.
// Aliases and fragments of links stay. The checksum of the note may be empty.
//
// Once the note has its new name, cancelling ctx no longer stops the move. Links that
// could not be changed are in Moved.Left; links in a note that was busy are changed by
// the next [Editor.Resume].
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
	return m, e.locked(ctx, func(state *os.Root) error {
		_, finished, err := e.resume(ctx, state)
		if err == nil && !finished {
			err = &sequent.Error{Code: vault.CodeBusy, Msg: "an earlier move still has links to change; nothing was moved", Fix: "try again"}
		}
		if err != nil {
			return err
		}
		r := record{From: from, To: to}
		if r.Name, err = e.onlyOne(ctx, from); err != nil {
			return err
		}
		if err := r.write(state); err != nil {
			return err
		}
		n, err := e.vault.Rename(ctx, from, to, func(n *vault.Note) error { return match(n, checksum) })
		if err != nil {
			_ = state.Remove(recordFile)
			return err
		}
		m, _ = e.follow(context.WithoutCancel(ctx), r, state)
		m.Note = n
		if again, err := e.vault.Read(ctx, to); err == nil {
			m.Note = again // it may link to itself
		}
		return nil
	})
}

// Resume completes the move of a process that was killed, or that could not change all
// links. It returns what it has done.
func (e *Editor) Resume(ctx context.Context) (moved []Moved, err error) {
	if _, err := os.Stat(filepath.Join(e.vault.Dir(), ".sequent", recordFile)); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return moved, e.locked(ctx, func(state *os.Root) error {
		moved, _, err = e.resume(ctx, state)
		return err
	})
}

// locked calls f as the only one that moves a note.
func (e *Editor) locked(ctx context.Context, f func(state *os.Root) error) error {
	unlock, err := e.vault.Lock(ctx, recordFile)
	if err != nil {
		return err
	}
	defer unlock()
	state, err := e.vault.State()
	if err != nil {
		return err
	}
	defer func() { _ = state.Close() }() // it only names a folder
	return f(state)
}

// resume completes the recorded move, and reports whether none is left.
func (e *Editor) resume(ctx context.Context, state *os.Root) (moved []Moved, finished bool, err error) {
	var r record
	data, _ := state.ReadFile(recordFile)
	if json.Unmarshal(data, &r) != nil {
		return nil, true, nil
	}
	_, err = e.vault.Stat(ctx, r.To)
	if err == nil { // if both names exist and are one file, the old one is removed
		_, err = e.vault.Rename(ctx, r.From, r.To, nil)
		if err == nil || errors.Is(err, vault.ErrNotFound) {
			m, finished := e.follow(ctx, r, state)
			return []Moved{m}, finished, ctx.Err()
		}
	}
	if passes(err) {
		return nil, false, err
	}
	// Nothing was renamed, or a person has put another note at the new place.
	return nil, true, state.Remove(recordFile)
}

// passes reports whether an error may be gone at the next attempt.
func passes(err error) bool {
	passing := []sequent.Code{vault.CodeBusy, vault.CodeConflict, vault.CodeFull, sequent.CodeCanceled}
	return slices.Contains(passing, sequent.CodeOf(err))
}

// write writes the record to disk.
func (r record) write(state *os.Root) error {
	err := durable.WriteFile(state, recordFile, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
	if err == nil {
		return nil
	}
	out := &sequent.Error{
		Code: vault.CodeUnavailable, Msg: "the move could not be prepared; nothing was changed",
		Fix: "check that the vault is writable and that its disk has space", Err: err,
	}
	if errors.Is(err, os.ErrPermission) {
		out.Code = vault.CodeReadOnly
	}
	return out
}

// onlyOne reports whether no other note has the name of a note.
func (e *Editor) onlyOne(ctx context.Context, uri vault.URI) (bool, error) {
	name := wikilink.Normalize(uri.Name())
	for info, err := range e.vault.Walk(ctx) {
		if ctx.Err() != nil {
			return false, err
		}
		if err == nil && info.URI != uri && wikilink.Normalize(info.URI.Name()) == name {
			return false, nil
		}
	}
	return true, nil
}

// follow changes the links of a move in all notes, and removes its record unless another
// attempt may change more.
func (e *Editor) follow(ctx context.Context, r record, state *os.Root) (m Moved, finished bool) {
	for info, err := range e.vault.Walk(ctx) {
		links := 0
		if err == nil {
			links, err = e.followIn(ctx, r, info.URI)
		}
		switch {
		case err != nil && !errors.Is(err, vault.ErrNotFound) && sequent.CodeOf(err) != vault.CodeInvalidURI:
			m.Left = append(m.Left, err)
		case err == nil && links > 0:
			m.Links += links
			m.Notes = append(m.Notes, info.URI)
		}
	}
	if finished = !slices.ContainsFunc(m.Left, passes); finished {
		_ = state.Remove(recordFile) // otherwise Resume finds that nothing is left to do
	}
	return m, finished
}

// followIn changes the links in a note.
func (e *Editor) followIn(ctx context.Context, r record, uri vault.URI) (links int, err error) {
	n, err := e.vault.Read(ctx, uri)
	if err != nil {
		return 0, err
	}
	if links, err = r.apply(n); links == 0 || err != nil {
		return 0, err
	}
	_, err = e.vault.Update(ctx, uri, func(n *vault.Note) (err error) {
		links, err = r.apply(n)
		return err
	})
	return links, err
}

// apply changes the links in a note and returns their number.
func (r record) apply(n *vault.Note) (links int, err error) {
	body, links := r.replace(n.Body, wikilink.Parse([]byte(n.Body)))
	front, more := r.replace(n.Front.Text(), wikilink.InText(n.Front.Text()))
	if more > 0 && n.Front.Err() == nil {
		next := vault.ParseNote(n.URI, []byte(strings.Replace(string(n.Bytes()), n.Front.Text(), front, 1)))
		if err := next.Front.Err(); err != nil || len(next.Front.Keys()) != len(n.Front.Keys()) {
			return 0, &sequent.Error{
				Code: vault.CodeFrontMatter, Err: err,
				Msg: fmt.Sprintf("the links in the front matter of %s cannot be changed", n.URI), Fix: "change them in an editor",
			}
		}
		n.Front = next.Front
		links += more
	}
	n.Body = body
	return links, nil
}

// memoryURI matches the URIs of notes in a text.
var memoryURI = lazyregexp.New("memory://[^\\s<>\"'()\\[\\]{}|^`#*]+")

// replace changes links and memory:// URIs in a text.
func (r record) replace(text string, links []wikilink.Link) (string, int) {
	var b strings.Builder
	count, at := 0, 0
	for _, l := range links {
		if target, ok := r.target(l.Target); ok {
			i := l.Start + strings.Index(text[l.Start:l.Stop], l.Target)
			b.WriteString(text[at:i] + target)
			at = i + len(l.Target)
			count++
		}
	}
	b.WriteString(text[at:])
	from, to := strings.TrimSuffix(string(r.From), ".md"), strings.TrimSuffix(string(r.To), ".md")
	return memoryURI().ReplaceAllStringFunc(b.String(), func(uri string) string {
		if strings.TrimSuffix(strings.TrimRight(uri, ".,;:!?"), ".md") != from {
			return uri
		}
		count++
		return to + uri[len(from):]
	}), count
}

// target returns the new target of a link to the moved note, or false for another link.
func (r record) target(target string) (string, bool) {
	name, ext := target, path.Ext(target)
	if strings.EqualFold(ext, ".md") {
		name = noExt(target)
	} else {
		ext = ""
	}
	from, to := noExt(r.From.Path()), noExt(r.To.Path())
	switch {
	case strings.Contains(name, "/"):
		return to + ext, strings.EqualFold(strings.TrimPrefix(name, "/"), from)
	case path.Base(from) == path.Base(to): // only the folder changes
		return "", false
	}
	return path.Base(to) + ext, r.Name && wikilink.Normalize(name) == wikilink.Normalize(path.Base(from))
}

func noExt(p string) string { return p[:len(p)-len(path.Ext(p))] }
