package wiki

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// memoryArgs are the arguments of memory.
type memoryArgs struct {
	Action   string   `json:"action"`
	URI      string   `json:"uri,omitzero"`
	Section  string   `json:"section,omitzero" action:"read,append,replace,find"`
	Content  string   `json:"content,omitzero" action:"write,append,replace,find"`
	Find     string   `json:"find,omitzero" action:"find"`
	To       string   `json:"to,omitzero" action:"move"`
	Title    string   `json:"title,omitzero" action:"write"`
	Tags     []string `json:"tags" action:"write"`
	Checksum string   `json:"checksum,omitzero"`
	Tokens   int      `json:"maxTokens,omitzero" alias:"max_tokens"`
	Offset   int      `json:"offset,omitzero" action:"read"`
}

// memory answers memory.
func memory(ctx context.Context, t *turn, in memoryArgs) error {
	if err := misplaced(in, in.Action); err != nil {
		return err
	}
	switch {
	case in.Action != "read":
		return t.edit(ctx, in)
	case in.URI == "" || strings.HasSuffix(in.URI, "/"):
		return t.folder(ctx, in)
	}
	return t.read(ctx, in)
}

// edit changes a note.
func (t *turn) edit(ctx context.Context, in memoryArgs) error {
	out := struct {
		Action   string      `json:"action"`
		URI      vault.URI   `json:"uri"`
		Checksum string      `json:"checksum,omitempty"`
		Links    int         `json:"linksChanged,omitempty"`
		Notes    []vault.URI `json:"notesChanged,omitempty"`
	}{Action: in.Action}
	var m edit.Moved
	var err error
	editor := t.vault.Editor
	change := edit.Change{
		URI: vault.URI(in.URI), Content: in.Content, Section: in.Section, Find: in.Find, Title: in.Title, Tags: in.Tags, Checksum: in.Checksum,
	}
	did := "Replaced the text in "
	switch in.Action {
	case "write":
		did = "Wrote "
		m.Note, err = editor.Write(ctx, change)
	case "append":
		did = "Appended to "
		m.Note, err = editor.Append(ctx, change)
	case "replace":
		did = "Replaced the section in "
		m.Note, err = editor.Replace(ctx, change)
	case "find":
		m.Note, err = editor.FindReplace(ctx, change)
	case "move":
		did = "Moved to "
		m, err = editor.Move(ctx, change.URI, vault.URI(in.To), in.Checksum)
	default:
		did = "Deleted "
		if err = editor.Delete(ctx, change.URI, in.Checksum); err == nil {
			out.URI, err = vault.ParseURI(in.URI)
		}
	}
	if err != nil {
		return err
	}
	if n := m.Note; n != nil {
		out.URI, out.Checksum = n.URI, edit.Checksum(n)
	}
	t.printf("%s%s", did, out.URI)
	if out.Checksum != "" {
		t.printf(" (checksum %s)", out.Checksum)
	}
	if out.Links, out.Notes = m.Links, m.Notes; out.Links > 0 {
		t.linef("%s changed in %s", printable.Count(out.Links, "link", "links"), printable.Count(len(out.Notes), "note", "notes"))
	}
	for _, err := range m.Left {
		t.linef("⚠️ links in a note stay as they were: %s", reason(err))
	}
	t.out = out
	return nil
}

const (
	defaultReadTokens = 2000
	bytesPerToken     = 4 // the ratio that [sequent.Tokens] uses
)

// budget returns how many bytes the reply may have.
func (in memoryArgs) budget() int { return cmp.Or(in.Tokens, defaultReadTokens) * bytesPerToken }

// read shows a note or a part of one.
func (t *turn) read(ctx context.Context, in memoryArgs) error {
	n, err := t.note(ctx, in.URI)
	if err != nil {
		return err
	}
	s := t.session(ctx, n.URI)
	out := struct {
		URI        vault.URI `json:"uri"`
		Title      string    `json:"title"`
		Status     string    `json:"status,omitempty"` // of a session, a workflow or an assumption
		Checksum   string    `json:"checksum"`
		Content    string    `json:"content"`
		Tokens     int       `json:"totalTokens"` // of the whole, or of the part that was asked for
		NextOffset int       `json:"nextOffset,omitempty"`
	}{URI: n.URI, Title: oneLine(n.Front.Get("title")), Status: n.Front.Get("status"), Checksum: edit.Checksum(n)}
	text, err := content(n, s, in.Section)
	if err != nil {
		return err
	}
	t.printf("%s (checksum %s)", out.URI, out.Checksum)
	if s != nil {
		out.Title, out.Status = oneLine(s.Title()), stateOf(s)
		t.linef("Session %s: %s", s.ID(), summary(s))
	}
	room := in.budget() - t.Len()
	out.Tokens = sequent.Tokens(text)
	if s != nil && in.Section == "" && in.Offset == 0 && len(text) > room {
		const least = 400 // bytes, in which a brief says something
		if text, _, err = brief.Write(ctx, s, max(room, least)); err != nil {
			return err
		}
		t.linef("⚠️ This is what the session came to. The whole has about %d tokens: pass maxTokens, or the section conclusion or thought N", out.Tokens)
	} else if text, out.NextOffset, err = window(text, in.Offset, room); err != nil {
		return err
	}
	out.Content = text
	t.printf("\n\n%s", text)
	if out.NextOffset > 0 {
		t.printf("\n\n⚠️ About %d tokens follow: read on with offset %d", out.Tokens-out.NextOffset/bytesPerToken, out.NextOffset)
	}
	t.out = out
	return nil
}

// window returns the part of a text from an offset that fits into room bytes, at least
// 100, and the offset of what follows; 0 if nothing does. It ends at a line's end if
// there is one in its second half.
func window(text string, offset, room int) (part string, next int, err error) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if offset > len(text) {
		return "", 0, &refusal{codeInvalidArgument, fmt.Sprintf("offset is %d, and the text has %d bytes; leave it out to read from the beginning", offset, len(text))}
	}
	for offset > 0 && offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset--
	}
	const least = 100
	end := offset + max(room, least)
	if end >= len(text) {
		return text[offset:], 0, nil
	}
	for !utf8.RuneStart(text[end]) {
		end--
	}
	if i := strings.LastIndexByte(text[offset:end], '\n'); i >= (end-offset)/2 {
		end = offset + i + 1
	}
	return text[offset:end], end, nil
}

// note returns the note with a URI or the id of a session.
func (t *turn) note(ctx context.Context, name string) (*vault.Note, error) {
	uri := vault.URI(name)
	if id := sequent.ID(strings.TrimPrefix(strings.Trim(name, "[]"), "sequential/")); thinking.ValidID(id) {
		found, err := t.vault.Sessions.Find(ctx, id)
		if errors.Is(err, vault.ErrNotFound) {
			err = &refusal{"NOTE_NOT_FOUND", fmt.Sprintf("the session %s has no note; check the id, or call sync, which writes the notes of sessions", id)}
		}
		if err != nil {
			return nil, err
		}
		uri = found
	}
	return t.vault.Notes.Read(ctx, uri)
}

// content returns a note, or a section of it. Thoughts of a session that no longer hold are
// marked.
func content(n *vault.Note, s *sequent.Session, section string) (string, error) {
	number := 0
	switch {
	case s != nil && strings.EqualFold(strings.TrimSpace(section), "conclusion"):
		if s.Conclusion() == "" {
			return "", &refusal{"NO_CONCLUSION", fmt.Sprintf("the session is %s and has no conclusion; read it without section", stateOf(s))}
		}
		for _, p := range slices.Backward(edit.Sections(n.Body)) { // links in the note follow moves
			if p.Level == 2 && p.Heading == "Conclusion" {
				return strings.TrimSpace(n.Body[p.Start:p.End]), nil
			}
		}
		return s.Conclusion(), nil // a person has deleted it from the note
	case s != nil && isThought(section, &number):
		return thoughts(s, number)
	case section != "":
		part, err := edit.Find(n.Body, section)
		return strings.TrimSpace(n.Body[part.Start:part.End]), err
	case s == nil && n.Front.Present():
		return strings.TrimSpace("---\n" + n.Front.Text() + "---\n" + n.Body), nil
	case s == nil:
		return strings.TrimSpace(n.Body), nil
	}
	marks := standings(s)
	var b strings.Builder
	at := 0
	for _, p := range thinking.Sections(n.Body) {
		if p.Seq >= 1 && p.Seq <= len(marks) && marks[p.Seq-1] != "" {
			fmt.Fprintf(&b, "%s\n⚠️ %s\n", n.Body[at:p.Heading], marks[p.Seq-1])
			at = p.Heading
		}
	}
	return strings.TrimSpace(b.String() + n.Body[at:]), nil
}

// isThought reports whether a section is that of a thought, such as "thought 3".
func isThought(section string, number *int) bool {
	_, err := fmt.Sscanf(strings.ToLower(strings.TrimSpace(section)), "thought %d", number)
	return err == nil
}

// thoughts returns the thoughts with a number, as the log has them.
func thoughts(s *sequent.Session, number int) (string, error) {
	marks := standings(s)
	var found []string
	last := 0
	for t := range s.All() {
		last = max(last, t.Number)
		if t.Number != number {
			continue
		}
		text := strings.TrimSpace(thinking.Text(s, t))
		if m := marks[t.Seq-1]; m != "" {
			text += "\n\n⚠️ " + m
		}
		found = append(found, text)
	}
	if len(found) == 0 {
		return "", &refusal{"THOUGHT_NOT_FOUND", fmt.Sprintf("the session has no thought %d; the highest number is %d", number, last)}
	}
	return strings.Join(found, "\n\n"), nil
}

// folder lists the notes below a folder that changed last.
func (t *turn) folder(ctx context.Context, in memoryArgs) error {
	folder, err := vault.FolderPath(in.URI)
	if err != nil {
		return err
	}
	notes, err := t.vault.Notes.Recent(ctx, folder, -1)
	if err != nil {
		return err
	}
	type listed struct {
		URI      vault.URI `json:"uri"`
		Modified string    `json:"modified"`
	}
	out := struct {
		URI    string   `json:"uri"`
		Notes  int      `json:"totalNotes"`
		Recent []listed `json:"recent"`
	}{vault.FolderURI(folder), len(notes), []listed{}}
	t.printf("%s has %s, changed last:\n", out.URI, printable.Count(len(notes), "note", "notes"))
	for i, n := range notes {
		at := n.Modified.UTC().Format("2006-01-02 15:04 UTC")
		if t.Len() > in.budget() || in.Tokens == 0 && i == 20 {
			t.linef("⚠️ and %d more: list a folder, or search_memories", len(notes)-i)
			break
		}
		out.Recent = append(out.Recent, listed{n.URI, at})
		t.linef("- %s (%s)", n.URI, at)
	}
	t.out = out
	return nil
}
