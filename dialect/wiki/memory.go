package wiki

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/vaults"
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
		t.linef("⚠️ links in a note stay as they were: %s", vaults.Reason(err))
	}
	t.out = out
	return nil
}

// budget returns how many bytes the reply may have.
func (in memoryArgs) budget() int {
	const bytesPerToken = 4 // the ratio that [dialect.Tokens] uses
	return cmp.Or(in.Tokens, 2000) * bytesPerToken
}

// read shows a note or a part of one.
func (t *turn) read(ctx context.Context, in memoryArgs) error {
	n, err := t.note(ctx, in.URI)
	if err != nil {
		return err
	}
	s := t.session(ctx, n.URI)
	out := struct {
		URI      vault.URI `json:"uri"`
		Title    string    `json:"title"`
		Status   string    `json:"status,omitempty"` // of a session, a workflow or an assumption
		Checksum string    `json:"checksum"`
		Content  string    `json:"content"`
		Tokens   int       `json:"totalTokens"` // of the whole, or of the part that was asked for
	}{URI: n.URI, Title: oneLine(n.Front.Get("title")), Status: n.Front.Get("status"), Checksum: edit.Checksum(n)}
	text, err := content(n, s, in.Section)
	if err != nil {
		return err
	}
	t.printf("%s (checksum %s)", out.URI, out.Checksum)
	if s != nil {
		out.Title, out.Status = oneLine(s.Title()), stateOf(s)
	}
	const least, leastBrief = 100, 400 // bytes, in which a text and a brief say something
	room := max(in.budget()-t.Len(), least)
	out.Content, out.Tokens = strings.ToValidUTF8(text, "\uFFFD"), dialect.Tokens(text)
	switch long := len(text) > room; {
	case long && s != nil && in.Section == "":
		t.linef("⚠️ This is what the session came to. The whole has about %d tokens: pass maxTokens, or the section conclusion or thought N", out.Tokens)
		if out.Content, _, err = brief.Write(ctx, s, max(room, leastBrief)); err != nil {
			return err
		}
	case long:
		t.linef("⚠️ This is the beginning. The whole has about %d tokens: pass maxTokens, or a section", out.Tokens)
		out.Content = strings.ToValidUTF8(out.Content[:room], "")
	case s != nil:
		t.linef("%s", brief.Head(s))
	}
	t.printf("\n\n%s", out.Content)
	t.out = out
	return nil
}

// note returns the note with a URI or the id of a session.
func (t *turn) note(ctx context.Context, name string) (*vault.Note, error) {
	uri := vault.URI(name)
	if id := sequent.ID(strings.TrimPrefix(strings.Trim(name, "[]"), "sequential/")); thinking.ValidID(id) {
		found, err := t.vault.Sessions.Find(ctx, id)
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
	var number int
	_, other := fmt.Sscanf(strings.Replace(strings.ToLower(strings.TrimSpace(section)), "#", "", 1), "thought %d", &number)
	switch {
	case s != nil && other == nil:
		return thoughts(s, number)
	case s != nil && strings.EqualFold(strings.TrimSpace(section), "conclusion") && s.Conclusion() != "":
		return "## Conclusion\n\n" + s.Conclusion(), nil
	case section != "":
		part, err := edit.Find(n.Body, section)
		return strings.TrimSpace(n.Body[part.Start:part.End]), err
	case s != nil:
		return strings.TrimSpace(marked(n.Body, s)), nil
	case n.Front.Present():
		return strings.TrimSpace("---\n" + n.Front.Text() + "---\n" + n.Body), nil
	}
	return strings.TrimSpace(n.Body), nil
}

// folder lists the notes below a folder that changed last.
func (t *turn) folder(ctx context.Context, in memoryArgs) error {
	folder, err := vault.FolderPath(in.URI)
	if err != nil {
		return err
	}
	notes, err := t.vault.Notes.Recent(ctx, folder)
	if err != nil {
		return err
	}
	out := struct {
		URI    string       `json:"uri"`
		Notes  int          `json:"totalNotes"`
		Recent []vault.Info `json:"recent"`
	}{vault.FolderURI(folder), len(notes), []vault.Info{}}
	t.printf("%s has %s, changed last:\n", out.URI, printable.Count(len(notes), "note", "notes"))
	for i, n := range notes {
		if t.Len() > in.budget() || in.Tokens == 0 && i == 20 {
			t.linef("⚠️ and %d more: list a folder, or search_memories", len(notes)-i)
			break
		}
		out.Recent = append(out.Recent, n)
		t.linef("- %s (%s)", n.URI, n.Modified.UTC().Format("2006-01-02 15:04 UTC"))
	}
	t.out = out
	return nil
}
