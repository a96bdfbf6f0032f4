package edit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// A Config configures an [Editor].
type Config struct {
	Vault *vault.Vault // required
	// Protected maps folders of notes that another tool writes to what a caller
	// should do instead. Links in these notes still follow a move.
	Protected map[string]string
	Now       func() time.Time // nil means time.Now
}

// An Editor changes notes. It is safe for concurrent use, also by several processes.
type Editor struct {
	vault     *vault.Vault
	protected map[string]string
	now       func() time.Time
}

// New returns an editor of a vault.
func New(c Config) *Editor {
	e := &Editor{vault: c.Vault, protected: c.Protected, now: c.Now}
	if e.now == nil {
		e.now = time.Now
	}
	return e
}

// Checksum returns the checksum of a note's file: 12 hexadecimal digits.
func Checksum(n *vault.Note) string {
	sum := sha256.Sum256(n.Bytes())
	return hex.EncodeToString(sum[:6])
}

// A Note is a note to write.
type Note struct {
	URI      vault.URI
	Content  string   // Markdown with a WikiLink; may begin with front matter
	Title    string   // for front matter; empty means the first heading, or the file's name
	Tags     []string // for front matter
	Checksum string   // of the note to replace; empty for a new one
}

// Write creates a note, or replaces the one with the given checksum. A replaced note
// keeps the keys of its front matter that the new content and arguments do not set.
func (e *Editor) Write(ctx context.Context, in Note) (*vault.Note, error) {
	uri, err := e.open(in.URI, "uri")
	if err != nil {
		return nil, err
	}
	if err := e.requireLink(uri, in.Content); err != nil {
		return nil, err
	}
	if in.Checksum == "" {
		n := vault.ParseNote(uri, []byte(in.Content))
		if err := e.setFront(n, in, true); err != nil {
			return nil, err
		}
		err := e.vault.Create(ctx, n)
		if errors.Is(err, vault.ErrExists) {
			err = checksumRequired(uri, "to replace it")
		}
		return n, err
	}
	return e.vault.Update(ctx, uri, func(n *vault.Note) error {
		if err := match(n, in.Checksum); err != nil {
			return err
		}
		given := vault.ParseNote(uri, []byte(in.Content))
		if given.Front.Present() {
			n.Front = given.Front
		}
		n.Body = withBreaks(given.Body, n.LineBreak())
		return e.setFront(n, in, false)
	})
}

// setFront sets the keys of front matter that the arguments give, and those that a new
// note lacks.
func (e *Editor) setFront(n *vault.Note, in Note, isNew bool) (err error) {
	f := &n.Front
	set := func(failed error) { err = cmp.Or(err, failed) }
	title := strings.Join(strings.Fields(in.Title), " ")
	if isNew && title == "" && f.Get("title") == "" {
		sections := Sections(n.Body)
		title = n.URI.Name()
		if i := slices.IndexFunc(sections, func(s Section) bool { return s.Level == 1 }); i >= 0 {
			title = sections[i].Heading
		}
	}
	if title != "" {
		set(f.Set("title", title))
	}
	if len(in.Tags) > 0 {
		var tags []string
		for _, t := range in.Tags {
			if t = strings.TrimLeft(strings.Join(strings.Fields(t), "-"), "#"); t != "" {
				tags = append(tags, t)
			}
		}
		set(f.Set("tags", tags))
	}
	if isNew && f.Get("created") == "" {
		set(f.Set("created", e.now()))
	}
	set(f.Set("modified", e.now()))
	return cmp.Or(err, fewLinks(n))
}

// A Change changes a part of a note.
type Change struct {
	URI      vault.URI
	Content  string // the new text
	Section  string // heading of the section to change
	Find     string // text to replace, exactly as in the note
	Checksum string // of the note; empty means that of any
}

// Append adds text with a WikiLink at the end of a note, or of a section.
func (e *Editor) Append(ctx context.Context, c Change) (*vault.Note, error) {
	if err := e.requireLink(c.URI, c.Content); err != nil {
		return nil, err
	}
	return e.change(ctx, c, func(n *vault.Note) error {
		if c.Section == "" {
			n.AddSection(strings.TrimRight(c.Content, "\n") + "\n")
			return nil
		}
		s, err := Find(n.Body, c.Section)
		if err != nil {
			return err
		}
		n.Body = join(n.Body[:s.End], c.Content, n.Body[s.End:], n.LineBreak())
		return nil
	})
}

// Replace replaces the text of a section, with what is below it, by text with a WikiLink.
// The heading stays, unless the new text begins with a heading of its level.
func (e *Editor) Replace(ctx context.Context, c Change) (*vault.Note, error) {
	if strings.TrimSpace(c.Section) == "" {
		return nil, invalid("section", "section is missing", "name the heading of the section to replace")
	}
	if err := e.requireLink(c.URI, c.Content); err != nil {
		return nil, err
	}
	return e.change(ctx, c, func(n *vault.Note) error {
		s, err := Find(n.Body, c.Section)
		if err != nil {
			return err
		}
		from := s.Text
		first, _, _ := strings.Cut(strings.TrimLeft(c.Content, "\r\n"), "\n")
		if level(strings.TrimSpace(first)) == s.Level {
			from = s.Start
		}
		n.Body = join(n.Body[:from], c.Content, n.Body[s.End:], n.LineBreak())
		return nil
	})
}

// FindReplace replaces a text that occurs once in a note's body. The note must keep a
// WikiLink.
func (e *Editor) FindReplace(ctx context.Context, c Change) (*vault.Note, error) {
	if c.Find == "" {
		return nil, invalid("find", "find is missing", "give the text to replace, exactly as it is in the note")
	}
	return e.change(ctx, c, func(n *vault.Note) error {
		start, end := 0, len(n.Body)
		if c.Section != "" {
			s, err := Find(n.Body, c.Section)
			if err != nil {
				return err
			}
			start, end = s.Start, s.End
		}
		find, shown := withBreaks(c.Find, n.LineBreak()), printable.Short(c.Find, maxQuoted)
		before, after, ok := strings.Cut(n.Body[start:end], find)
		switch {
		case !ok:
			return sequent.Errorf(CodeNoText, "find", "read the note, and copy the text exactly, with its line breaks",
				"%s does not have the text %q", n.URI, shown)
		case strings.Contains(after, find):
			return sequent.Errorf(CodeAmbiguous, "find", "give more of the text around it, or the section that it is in",
				"%s has the text %q several times", n.URI, shown)
		}
		n.Body = n.Body[:start] + before + withBreaks(c.Content, n.LineBreak()) + after + n.Body[end:]
		if !linked(n) {
			return linkRequired("content", "the note after the change")
		}
		return nil
	})
}

// change changes a note.
func (e *Editor) change(ctx context.Context, c Change, do func(*vault.Note) error) (*vault.Note, error) {
	uri, err := e.open(c.URI, "uri")
	if err != nil {
		return nil, err
	}
	return e.vault.Update(ctx, uri, func(n *vault.Note) error {
		if err := match(n, c.Checksum); err != nil {
			return err
		}
		before := n.Body
		if err := do(n); err != nil {
			return err
		}
		if err := fewLinks(n); err != nil {
			return err
		}
		if n.Body == before || !n.Front.Present() || n.Front.Err() != nil {
			return nil // damaged front matter is its author's to correct
		}
		return n.Front.Set("modified", e.now())
	})
}

// Delete removes a note with the given checksum.
func (e *Editor) Delete(ctx context.Context, uri vault.URI, checksum string) error {
	uri, err := e.open(uri, "uri")
	if err != nil {
		return err
	}
	return e.vault.Delete(ctx, uri, func(n *vault.Note) error {
		if checksum == "" {
			return checksumRequired(uri, "to delete it")
		}
		return match(n, checksum)
	})
}

// open returns the canonical URI of a note that the editor may change.
func (e *Editor) open(uri vault.URI, field string) (vault.URI, error) {
	canonical, err := vault.ParseURI(string(uri))
	if err != nil {
		return "", err
	}
	for folder, instead := range e.protected {
		if p := strings.ToLower(canonical.Path()); strings.HasPrefix(p, folder+"/") {
			return "", sequent.Errorf(CodeProtected, field, instead, "another tool writes the notes in %s", folder)
		}
	}
	return canonical, nil
}

// match refuses a note with another checksum than the given one, if one is given.
func match(n *vault.Note, checksum string) error {
	if now := Checksum(n); checksum != "" && !strings.EqualFold(strings.TrimSpace(checksum), now) {
		return changed(n.URI, now)
	}
	return nil
}

// requireLink refuses a text for a note that is empty, too long or without a link.
func (e *Editor) requireLink(uri vault.URI, text string) error {
	const field = "content"
	if err := e.vault.CheckSize(uri, len(text)); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(text) == "":
		return invalid(field, field+" is missing", "write the text, with at least one [[WikiLink]]")
	case !linked(vault.ParseNote("", []byte(text))):
		return linkRequired(field, field)
	}
	return nil
}

// linked reports whether a note links to a concept, in its body or in its front matter.
func linked(n *vault.Note) bool {
	inFront := wikilink.InText(n.Front.Text())
	return slices.ContainsFunc(inFront, func(l wikilink.Link) bool { return l.Concept() != "" }) || wikilink.HasConcept([]byte(n.Body))
}

// fewLinks refuses a note with more links than a note may have.
func fewLinks(n *vault.Note) error {
	count := len(wikilink.InText(n.Front.Text()))
	for range wikilink.All(n.Body) {
		if count++; count > vault.MaxLinks { // the rest makes no difference
			break
		}
	}
	return vault.CheckLinks(n.URI, count)
}

// join puts a text between two parts of a note, with an empty line on each side.
func join(before, text, after, br string) string {
	text = strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	before = strings.TrimRight(before, "\r\n")
	if before != "" {
		before += br + br
	}
	after = strings.TrimLeft(after, "\r\n")
	if after != "" {
		after = br + after
	}
	return before + withBreaks(text, br) + br + after
}

// withBreaks returns a text with the line breaks of a note.
func withBreaks(text, br string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", cmp.Or(br, "\n"))
}
