package wiki

import (
	"cmp"
	"context"
	_ "embed" // of the contract
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
	"github.com/sequent-dev/sequent/vault/thinking"
)

var (
	//go:embed read.json
	readSpec []byte
	//go:embed read.md
	readText []byte
)

// readArgs are the arguments of read_memory.
type readArgs struct {
	learnArgs
	URI     string `json:"uri,omitzero"`
	Section string `json:"section,omitzero"`
	Thought *int   `json:"thought"`
	Tokens  int    `json:"maxTokens,omitzero" alias:"max_tokens"`
	Offset  int    `json:"offset,omitzero"`
}

const defaultReadTokens = 2000

// bytesPerToken is the ratio that [sequent.Tokens] uses.
const bytesPerToken = 4

// A readOut is a note, or a part of one, for a program.
type readOut struct {
	URI        vault.URI `json:"uri"`
	Title      string    `json:"title"`
	Status     string    `json:"status,omitempty"` // of a session, a workflow or an assumption
	Checksum   string    `json:"checksum"`
	Content    string    `json:"content"`
	Tokens     int       `json:"totalTokens"` // of the whole, or of the part that was asked for
	NextOffset int       `json:"nextOffset,omitempty"`
}

// read answers read_memory.
func (d *server) read(ctx context.Context, c tool.Call, in readArgs) (tool.Reply, error) {
	if in.Section != "" && in.Thought != nil {
		return refuse(&refusal{codeInvalidArgument, "section and thought name two parts; leave one of them out"})
	}
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	if in.URI == "" || strings.HasSuffix(in.URI, "/") {
		return d.folder(ctx, v, in, c.Unknown)
	}
	n, s, err := d.note(ctx, c.Caller, v, in.URI)
	if err != nil {
		return refuse(err)
	}
	out := readOut{URI: n.URI, Title: oneLine(n.Front.Get("title")), Status: n.Front.Get("status"), Checksum: edit.Checksum(n)}
	if n, err = n.Decoded(); err != nil {
		return refuse(err)
	}
	text, err := content(n, s, in)
	if err != nil {
		return refuse(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (checksum %s)", out.URI, out.Checksum)
	if s != nil {
		out.Title, out.Status = oneLine(s.Title()), stateOf(s)
		fmt.Fprintf(&b, "\nSession %s: %s", s.ID(), summary(s))
	}
	budget := cmp.Or(in.Tokens, defaultReadTokens) * bytesPerToken
	lines := d.across(ctx, c.Caller, v, n, s)
	for i, line := range lines {
		const share = 3 // of the budget, for what is around the text
		if b.Len()+len(line) > budget/share {
			fmt.Fprintf(&b, "\n⚠️ Left out: %s about assumptions and workflows; pass maxTokens", wording.Count(len(lines)-i, "line", "lines"))
			break
		}
		b.WriteString("\n" + line)
	}
	room := budget - b.Len()
	out.Tokens = sequent.Tokens(text)
	whole := in.Section == "" && in.Thought == nil
	if s != nil && whole && in.Offset == 0 && len(text) > room {
		const least = 400 // bytes, in which a brief says something
		text, _ = brief.Write(s, max(room, least))
		fmt.Fprintf(&b, "\n⚠️ This is what the session came to. The whole has about %d tokens: pass maxTokens, thought or section conclusion", out.Tokens)
	} else if text, out.NextOffset, err = window(text, in.Offset, room); err != nil {
		return refuse(err)
	}
	out.Content = text
	b.WriteString("\n\n" + text)
	if out.NextOffset > 0 {
		fmt.Fprintf(&b, "\n\n⚠️ About %d tokens follow: read on with offset %d", out.Tokens-out.NextOffset/bytesPerToken, out.NextOffset)
	}
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
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

// note returns the note with a URI or the id of a session, and its session if it is the
// note of one.
func (d *server) note(ctx context.Context, caller tool.Caller, v *Vault, name string) (*vault.Note, *sequent.Session, error) {
	uri := vault.URI(name)
	id := sequent.ID(strings.TrimPrefix(strings.Trim(name, "[]"), "sequential/"))
	isID := thinking.ValidID(id)
	if isID {
		found, there, err := v.Sessions.Find(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		if uri = found; !there {
			return nil, nil, &refusal{"NOTE_NOT_FOUND", fmt.Sprintf("the session %s has no note; check the id, or call sync, which writes the notes of sessions", id)}
		}
	}
	n, err := v.Notes.Read(ctx, uri)
	if err != nil {
		return nil, nil, err
	}
	id = sequent.ID(n.URI.Name())
	if !strings.HasPrefix(n.URI.Path(), thinking.Folder+"/") || !thinking.ValidID(id) {
		return n, nil, nil
	}
	s, err := d.session(ctx, caller, v, id, n)
	if err != nil {
		return n, nil, nil //nolint:nilerr // a note with the name of a session is read as what it is
	}
	return n, s, nil
}

// content returns the part of a note that was asked for. Thoughts of a session that no
// longer hold are marked.
func content(n *vault.Note, s *sequent.Session, in readArgs) (string, error) {
	switch {
	case in.Thought != nil:
		if s == nil {
			return "", &refusal{codeInvalidArgument, "the note is not that of a session, and has no thoughts; name a section instead, or leave thought out"}
		}
		return thoughts(n.Body, s, *in.Thought)
	case s != nil && strings.EqualFold(strings.TrimSpace(in.Section), "conclusion"):
		if s.Conclusion() == "" {
			return "", &refusal{"NO_CONCLUSION", fmt.Sprintf("the session is %s and has no conclusion; read it without section", stateOf(s))}
		}
		return conclusion(n.Body, s), nil
	case in.Section != "":
		part, err := edit.Find(n.Body, in.Section)
		if err != nil {
			return "", err
		}
		return strings.TrimSpace(n.Body[part.Start:part.End]), nil
	case s != nil:
		return marked(n.Body, s), nil
	}
	text := n.Body
	if n.Front.Present() {
		text = "---\n" + n.Front.Text() + "---\n" + text
	}
	return strings.TrimSpace(text), nil
}

// folder lists a folder: the folders in it and the notes below it that changed last.
func (d *server) folder(ctx context.Context, v *Vault, in readArgs, unknown []string) (tool.Reply, error) {
	folder, err := vault.FolderPath(in.URI)
	if err != nil {
		return refuse(err)
	}
	notes, err := v.Notes.Recent(ctx, folder, -1)
	if err != nil {
		return refuse(err)
	}
	type listed struct {
		URI      vault.URI `json:"uri"`
		Modified string    `json:"modified"`
	}
	type sub struct {
		URI   string `json:"uri"`
		Notes int    `json:"notes"`
	}
	out := struct {
		URI     string   `json:"uri"`
		Notes   int      `json:"totalNotes"`
		Folders []sub    `json:"folders"`
		Recent  []listed `json:"recent"`
	}{vault.FolderURI(folder), len(notes), []sub{}, []listed{}}
	counts := make(map[string]int)
	for _, n := range notes {
		if name, _, ok := strings.Cut(n.URI.Path()[len(folder):], "/"); ok {
			counts[name]++
		}
	}
	for name, count := range counts {
		out.Folders = append(out.Folders, sub{vault.FolderURI(folder + name + "/"), count})
	}
	slices.SortFunc(out.Folders, func(a, b sub) int { return strings.Compare(a.URI, b.URI) })

	var b strings.Builder
	if len(notes) == 0 {
		fmt.Fprintf(&b, "%s has no notes yet; edit_memory writes one", out.URI)
	} else {
		fmt.Fprintf(&b, "%s has %s", out.URI, wording.Count(len(notes), "note", "notes"))
	}
	room := cmp.Or(in.Tokens, defaultReadTokens) * bytesPerToken
	for _, f := range out.Folders {
		fmt.Fprintf(&b, "\n- %s (%d)", f.URI, f.Notes)
	}
	for i, n := range notes {
		if i == 0 {
			b.WriteString("\n\nChanged last:\n")
		}
		line := fmt.Sprintf("\n- %s (%s)", n.URI, n.Modified.UTC().Format("2006-01-02 15:04 UTC"))
		if b.Len()+len(line) > room || in.Tokens == 0 && i == 20 {
			fmt.Fprintf(&b, "\n⚠️ and %d more: list a folder, or search_memories", len(notes)-i)
			break
		}
		out.Recent = append(out.Recent, listed{n.URI, n.Modified.UTC().Format("2006-01-02T15:04:05Z")})
		b.WriteString(line)
	}
	ignored(&b, unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}
