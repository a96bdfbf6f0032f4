package edit

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
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

const (
	records  = "moves" // the folder of the records, and the name of the lock
	tempMark = ".tmp"
)

// Move gives a note another URI, and changes the links to it in all notes: WikiLinks with
// its path or, if no other note has its name, with its name; and its memory:// URI.
// Aliases and fragments of links stay. The checksum of the note may be empty.
//
// Once the note has its new name, cancelling ctx no longer stops the move. Links that
// could not be changed are in Moved.Left; links in a note that was busy are changed by
// the next [Editor.Resume].
func (e *Editor) Move(ctx context.Context, from, to vault.URI, checksum string) (Moved, error) {
	from, err := e.open(from, "uri")
	if err != nil {
		return Moved{}, err
	}
	if to == "" {
		return Moved{}, invalid("to", "to is missing", "give the new memory:// URI")
	}
	if to, err = e.open(to, "to"); err != nil {
		return Moved{}, err
	}
	if from == to {
		return Moved{}, invalid("to", "to is the URI that the note has", "give another one")
	}
	if strings.ContainsAny(to.Path(), "#[]^`") {
		return Moved{}, invalid("to", "a WikiLink cannot contain the characters #, [, ], ^ and `", "choose a name without them")
	}
	unlock, err := e.vault.Lock(ctx, records)
	if err != nil {
		return Moved{}, err
	}
	defer unlock()
	if _, err := e.resume(ctx); err != nil {
		return Moved{}, err
	}
	r := record{From: from, To: to}
	if r.Name, err = e.onlyOne(ctx, from); err != nil {
		return Moved{}, err
	}
	done, err := e.write(r)
	if err != nil {
		return Moved{}, err
	}
	n, err := e.vault.Rename(ctx, from, to, func(n *vault.Note) error { return match(n, checksum) })
	if err != nil {
		done()
		return Moved{}, err
	}
	m := e.follow(context.WithoutCancel(ctx), r)
	m.Note = n
	if again, err := e.vault.Read(ctx, to); err == nil {
		m.Note = again // it may link to itself
	}
	if !slices.ContainsFunc(m.Left, passes) {
		done()
	}
	return m, nil
}

// Resume completes the moves of processes that were killed, and those that could not
// change all links. It returns what it has done for each.
func (e *Editor) Resume(ctx context.Context) ([]Moved, error) {
	if _, err := e.vault.ReadState(ctx, "", records); errors.Is(err, vault.ErrNotFound) {
		return nil, nil // there was never a move
	}
	unlock, err := e.vault.Lock(ctx, records)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return e.resume(ctx)
}

// resume is Resume for a caller with the lock.
func (e *Editor) resume(ctx context.Context) ([]Moved, error) {
	root, err := e.vault.State()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	durable.RemoveAbandoned(root, records, func(name string) bool { return strings.HasSuffix(name, tempMark) })
	entries, err := fs.ReadDir(root.FS(), records)
	if err != nil {
		return nil, nil //nolint:nilerr // there was never a move
	}
	var all []Moved
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), tempMark) {
			continue
		}
		name := path.Join(records, entry.Name())
		var r record
		data, err := root.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil { // the process was killed before it changed anything
			_ = root.Remove(name)
			continue
		}
		finished := true
		if _, err := e.vault.Stat(ctx, r.To); err == nil {
			// If both names exist and are one file, the old one is removed.
			if _, err := e.vault.Rename(ctx, r.From, r.To, nil); err == nil || errors.Is(err, vault.ErrNotFound) {
				m := e.follow(ctx, r)
				finished = !slices.ContainsFunc(m.Left, passes)
				all = append(all, m)
			} else if passes(err) {
				finished = false
			} // else a person has put another note at the new place
		} else if !errors.Is(err, vault.ErrNotFound) {
			finished = false
		}
		if err := ctx.Err(); err != nil {
			return all, &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err}
		}
		if finished {
			_ = root.Remove(name)
		}
	}
	return all, nil
}

// passes reports whether an error may be gone at the next attempt.
func passes(err error) bool {
	code := sequent.CodeOf(err)
	return code == vault.CodeBusy || code == vault.CodeConflict || code == vault.CodeFull || code == sequent.CodeCanceled
}

// write writes a record to disk. done removes it.
func (e *Editor) write(r record) (done func(), err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	root, err := e.vault.State()
	if err != nil {
		return nil, err
	}
	if err = root.Mkdir(records, 0o700); errors.Is(err, fs.ErrExist) {
		err = nil
	}
	name := path.Join(records, rand.Text())
	if err == nil {
		err = durable.WriteTemp(root, name+tempMark, 0o600, func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	if err == nil {
		err = root.Rename(name+tempMark, name)
	}
	if err == nil {
		err = durable.SyncDir(root, records)
	}
	if err != nil {
		_ = root.Close()
		return nil, notRecorded(err)
	}
	return func() {
		_ = root.Remove(name) // else Resume finds that nothing is left to do
		_ = root.Close()
	}, nil
}

func notRecorded(err error) error {
	e := &sequent.Error{Code: vault.CodeUnavailable, Msg: "the move could not be prepared; nothing was changed", Fix: "check that the vault is writable and that its disk has space", Err: err}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, os.ErrPermission) {
		e.Code = vault.CodeReadOnly
	}
	return e
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

// follow changes the links of a move in all notes.
func (e *Editor) follow(ctx context.Context, r record) Moved {
	var m Moved
	for info, err := range e.vault.Walk(ctx) {
		if err == nil {
			err = e.followIn(ctx, r, info.URI, &m)
		}
		if err != nil && !errors.Is(err, vault.ErrNotFound) && sequent.CodeOf(err) != vault.CodeInvalidURI {
			m.Left = append(m.Left, err)
		}
	}
	return m
}

func (e *Editor) followIn(ctx context.Context, r record, uri vault.URI, m *Moved) error {
	n, err := e.vault.Read(ctx, uri)
	if err != nil {
		return err
	}
	if n.UTF16() {
		if d, err := n.Decoded(); err == nil && countLinks(d, r) > 0 {
			return editable(n)
		}
		return nil
	}
	if countLinks(n, r) == 0 {
		return nil
	}
	links := 0
	_, err = e.vault.Update(ctx, uri, func(n *vault.Note) error {
		var err error
		links, err = r.apply(n)
		return err
	})
	if err == nil && links > 0 {
		m.Links += links
		m.Notes = append(m.Notes, uri)
	}
	return err
}

// countLinks returns how many links a note may have to the moved one: cheaper than apply,
// it counts those in code too.
func countLinks(n *vault.Note, r record) int {
	count := 0
	for _, l := range wikilink.InText(n.Front.Text() + "\n" + n.Body) {
		if _, ok := r.target(l.Target); ok {
			count++
		}
	}
	return count + strings.Count(n.Front.Text()+"\n"+n.Body, strings.TrimSuffix(string(r.From), ".md"))
}

// apply changes the links in a note and returns their number.
func (r record) apply(n *vault.Note) (links int, err error) {
	body, inBody := r.replace(n.Body, wikilink.Parse([]byte(n.Body)))
	front, inFront := r.replace(n.Front.Text(), wikilink.InText(n.Front.Text()))
	if inFront > 0 && n.Front.Err() == nil {
		whole := string(n.Bytes())
		at := strings.Index(whole, n.Front.Text())
		next := vault.ParseNote(n.URI, []byte(whole[:at]+front+whole[at+len(n.Front.Text()):]))
		if err := next.Front.Err(); err != nil || len(next.Front.Keys()) != len(n.Front.Keys()) {
			return 0, &sequent.Error{
				Code: vault.CodeFrontMatter, Err: err,
				Msg: fmt.Sprintf("the links in the front matter of %s cannot be changed", n.URI), Fix: "change them in an editor",
			}
		}
		n.Front = next.Front
		links += inFront
	}
	n.Body = body
	return links + inBody, nil
}

// replace changes links and memory:// URIs in a text.
func (r record) replace(text string, links []wikilink.Link) (string, int) {
	var b strings.Builder
	count, at := 0, 0
	for _, l := range links {
		target, ok := r.target(l.Target)
		if !ok {
			continue
		}
		i := strings.Index(text[l.Start:l.Stop], l.Target)
		b.WriteString(text[at : l.Start+i])
		b.WriteString(target)
		at = l.Start + i + len(l.Target)
		count++
	}
	b.WriteString(text[at:])
	text, uris := r.replaceURIs(b.String())
	return text, count + uris
}

// target returns the new target of a link to the moved note, or false for another link.
func (r record) target(target string) (string, bool) {
	name, ext := target, ""
	if n := len(name) - 3; n > 0 && strings.EqualFold(name[n:], ".md") {
		name, ext = name[:n], name[n:]
	}
	from, to := noExt(r.From.Path()), noExt(r.To.Path())
	switch {
	case strings.Contains(name, "/"):
		if strings.EqualFold(strings.TrimPrefix(name, "/"), from) {
			return to + ext, true
		}
		return "", false
	case path.Base(from) == path.Base(to):
		return "", false // only the folder changes
	case r.Name && wikilink.Normalize(name) == wikilink.Normalize(path.Base(from)):
		return path.Base(to) + ext, true
	}
	return "", false
}

func noExt(p string) string { return p[:len(p)-len(path.Ext(p))] }

// replaceURIs changes the memory:// URIs of the moved note, with or without .md.
func (r record) replaceURIs(text string) (string, int) {
	from, to := strings.TrimSuffix(string(r.From), ".md"), strings.TrimSuffix(string(r.To), ".md")
	if !strings.Contains(text, from) {
		return text, 0
	}
	var b strings.Builder
	count := 0
	for {
		before, after, ok := strings.Cut(text, from)
		b.WriteString(before)
		if !ok {
			return b.String(), count
		}
		rest, hasExt := strings.CutPrefix(after, ".md")
		switch {
		case hasExt && !continues(rest):
			b.WriteString(to + ".md")
		case !continues(after):
			b.WriteString(to)
			rest = after
		default: // another note, whose name begins with this one
			b.WriteString(from)
			text = after
			continue
		}
		text = rest
		count++
	}
}

// continues reports whether a text continues the name of a note before it.
func continues(text string) bool {
	if text == "" {
		return false
	}
	if rest, ok := strings.CutPrefix(text, "."); ok {
		return rest != "" && isName(rest[0])
	}
	return isName(text[0])
}

func isName(c byte) bool {
	return c >= 0x80 || c == '-' || c == '_' || c == '%' || c == '/' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
