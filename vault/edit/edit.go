package edit

import (
	"bytes"
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
type Editor struct{ cfg Config }

// New returns an editor of a vault.
func New(c Config) *Editor {
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Editor{c}
}

// Checksum returns the checksum of a note's file: 12 hexadecimal digits.
func Checksum(n *vault.Note) string {
	sum := sha256.Sum256(n.Bytes())
	return hex.EncodeToString(sum[:6])
}

// A Change writes a note, or changes a part of one.
type Change struct {
	URI      vault.URI
	Content  string   // the new text: Markdown, to write a note perhaps with front matter
	Section  string   // heading of the section to change
	Find     string   // text to replace, exactly as in the note
	Title    string   // of a note to write, for front matter; empty means the first heading, or the file's name
	Tags     []string // of a note to write, for front matter
	Checksum string   // of the note; empty means that of any, or a new one to write
}

// Write creates a note, or replaces the one with the given checksum. A replaced note
// keeps its front matter, unless the content has its own.
func (e *Editor) Write(ctx context.Context, c Change) (*vault.Note, error) {
	if err := requireLink(c); err != nil {
		return nil, err
	}
	if c.Checksum != "" {
		return e.change(ctx, c, func(n *vault.Note, _ Section) error {
			given := vault.ParseNote(n.URI, []byte(c.Content))
			if given.Front.Present() {
				n.Front = given.Front
			}
			n.Body = lf.Replace(given.Body)
			return n.Front.SetAll(c.front()...)
		})
	}
	uri, err := e.open(c.URI, "uri")
	if err != nil {
		return nil, err
	}
	n := vault.ParseNote(uri, []byte(c.Content))
	if c.Title = cmp.Or(c.Title, n.Front.Get("title")); strings.TrimSpace(c.Title) == "" {
		c.Title = uri.Name()
		sections := Sections(n.Body)
		if i := slices.IndexFunc(sections, func(s Section) bool { return s.Level == 1 }); i >= 0 {
			c.Title = sections[i].Heading
		}
	}
	now := e.cfg.Now()
	set := c.front()
	if n.Front.Get("created") == "" {
		set = append(set, "created", now)
	}
	if err := n.Front.SetAll(append(set, "modified", now)...); err != nil {
		return nil, err
	}
	if err := fewLinks(n); err != nil {
		return nil, err
	}
	if err = e.cfg.Vault.Create(ctx, n); errors.Is(err, vault.ErrExists) {
		err = checksumRequired(uri, "to replace it")
	}
	return n, err
}

// front returns the keys of front matter that the change gives, each followed by its value.
func (c Change) front() (set []any) {
	if title := strings.Join(strings.Fields(c.Title), " "); title != "" {
		set = append(set, "title", title)
	}
	var tags []string
	for _, t := range c.Tags {
		if t = strings.TrimLeft(strings.Join(strings.Fields(t), "-"), "#"); t != "" {
			tags = append(tags, t)
		}
	}
	if len(tags) > 0 {
		set = append(set, "tags", tags)
	}
	return set
}

// Append adds text with a WikiLink at the end of a note, or of a section.
func (e *Editor) Append(ctx context.Context, c Change) (*vault.Note, error) {
	if err := requireLink(c); err != nil {
		return nil, err
	}
	return e.change(ctx, c, func(n *vault.Note, s Section) error {
		n.Body = join(n.Body[:s.End], c.Content, n.Body[s.End:])
		return nil
	})
}

// Replace replaces the text of a section, with what is below it, by text with a WikiLink.
// The heading stays, unless the new text begins with a heading of its level.
func (e *Editor) Replace(ctx context.Context, c Change) (*vault.Note, error) {
	if strings.TrimSpace(c.Section) == "" {
		return nil, invalid("section", "section is missing", "name the heading of the section to replace")
	}
	if err := requireLink(c); err != nil {
		return nil, err
	}
	return e.change(ctx, c, func(n *vault.Note, s Section) error {
		from := s.Text
		first, _, _ := strings.Cut(strings.TrimLeft(c.Content, "\r\n"), "\n")
		if level(strings.TrimSpace(first)) == s.Level {
			from = s.Start
		}
		n.Body = join(n.Body[:from], c.Content, n.Body[s.End:])
		return nil
	})
}

// FindReplace replaces a text that occurs once in a note's body, or in a section. The note
// must keep a WikiLink.
func (e *Editor) FindReplace(ctx context.Context, c Change) (*vault.Note, error) {
	if c.Find == "" {
		return nil, invalid("find", "find is missing", "give the text to replace, exactly as it is in the note")
	}
	return e.change(ctx, c, func(n *vault.Note, s Section) error {
		find, shown := lf.Replace(c.Find), printable.Short(c.Find, maxQuoted)
		before, after, ok := strings.Cut(n.Body[s.Start:s.End], find)
		switch {
		case !ok:
			return sequent.Errorf(CodeNoText, "find", "read the note, and copy the text exactly, with its line breaks",
				"%s does not have the text %q", n.URI, shown)
		case strings.Contains(after, find):
			return sequent.Errorf(CodeAmbiguous, "find", "give more of the text around it, or the section that it is in",
				"%s has the text %q several times", n.URI, shown)
		}
		n.Body = n.Body[:s.Start] + before + lf.Replace(c.Content) + after + n.Body[s.End:]
		if !linked(n) {
			return linkRequired("the note after the change")
		}
		return nil
	})
}

// change changes a note, in the section that the change names; without one, that is the body.
func (e *Editor) change(ctx context.Context, c Change, do func(*vault.Note, Section) error) (*vault.Note, error) {
	uri, err := e.open(c.URI, "uri")
	if err != nil {
		return nil, err
	}
	return e.cfg.Vault.Update(ctx, uri, func(n *vault.Note) (err error) {
		if err := match(n, c.Checksum); err != nil {
			return err
		}
		s := Section{End: len(n.Body)}
		if c.Section != "" {
			if s, err = Find(n.Body, c.Section); err != nil {
				return err
			}
		}
		before := n.Bytes()
		if err := do(n, s); err != nil {
			return err
		}
		if err := fewLinks(n); err != nil {
			return err
		}
		if bytes.Equal(n.Bytes(), before) || !n.Front.Present() || n.Front.Err() != nil {
			return nil // damaged front matter is its author's to correct
		}
		return n.Front.Set("modified", e.cfg.Now())
	})
}

// Delete removes a note with the given checksum.
func (e *Editor) Delete(ctx context.Context, uri vault.URI, checksum string) error {
	uri, err := e.open(uri, "uri")
	if err != nil {
		return err
	}
	return e.cfg.Vault.Delete(ctx, uri, func(n *vault.Note) error {
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
	for folder, instead := range e.cfg.Protected {
		if p := strings.ToLower(canonical.Path()); strings.HasPrefix(p, folder+"/") {
			return "", sequent.Errorf(CodeProtected, field, instead, "another tool writes the notes in %s", folder)
		}
	}
	return canonical, nil
}

// match refuses a note with another checksum than the given one, if one is given.
func match(n *vault.Note, checksum string) error {
	if now := Checksum(n); checksum != "" && !strings.EqualFold(strings.TrimSpace(checksum), now) {
		return sequent.Errorf(CodeChanged, "checksum", "read it again, and repeat the change on what is there now",
			"%s has changed: its checksum is %s; nothing was written", n.URI, now)
	}
	return nil
}

// requireLink refuses content that is empty, too long or without a link.
func requireLink(c Change) error {
	if err := vault.Check(c.URI, len(c.Content), 0); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(c.Content) == "":
		return invalid("content", "content is missing", "write the text, with at least one [[WikiLink]]")
	case !linked(vault.ParseNote("", []byte(c.Content))):
		return linkRequired("content")
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
	return vault.Check(n.URI, 0, count)
}

// join puts a text between two parts of a note, with an empty line on each side.
func join(before, text, after string) string {
	if before = strings.TrimRight(before, "\r\n"); before != "" {
		before += "\n\n"
	}
	if after = strings.TrimLeft(after, "\r\n"); after != "" {
		after = "\n" + after
	}
	return before + strings.Trim(lf.Replace(text), "\n") + "\n" + after
}

// lf gives a caller's text the line breaks of notes.
var lf = strings.NewReplacer("\r\n", "\n")
