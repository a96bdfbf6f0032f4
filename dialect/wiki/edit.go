package wiki

import (
	"context"
	_ "embed" // of the contract
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/dialect/wording"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
)

var (
	//go:embed edit.json
	editSpec []byte
	//go:embed edit.md
	editText []byte
)

// editArgs are the arguments of edit_memory.
type editArgs struct {
	learnArgs
	Action   string   `json:"action"`
	URI      string   `json:"uri"`
	Content  string   `json:"content,omitzero"`
	Section  string   `json:"section,omitzero"`
	Find     string   `json:"find,omitzero"`
	To       string   `json:"to,omitzero"`
	Title    string   `json:"title,omitzero"`
	Tags     []string `json:"tags"`
	Checksum string   `json:"checksum,omitzero"`
}

// check refuses arguments that do not belong to the action.
func (in editArgs) check() error {
	for _, g := range []struct {
		name    string
		is      bool
		actions string
	}{
		{"content", in.Content != "", "write, append, replace, find"},
		{"section", in.Section != "", "append, replace, find"},
		{"find", in.Find != "", "find"},
		{"to", in.To != "", "move"},
		{"title", in.Title != "", "write"},
		{"tags", len(in.Tags) > 0, "write"},
	} {
		if g.is && !strings.Contains(g.actions, in.Action) {
			return notOf(g.name, g.actions)
		}
	}
	return nil
}

// notOf returns the refusal for an argument that belongs to other actions.
func notOf(name, actions string) error {
	word := "action"
	if i := strings.LastIndex(actions, ", "); i >= 0 {
		word, actions = "actions", actions[:i]+" and "+actions[i+2:]
	}
	return &refusal{codeInvalidArgument, fmt.Sprintf("%s belongs to the %s %s; leave it out, or use one of them", name, word, actions)}
}

// edit answers edit_memory.
func (d *server) edit(ctx context.Context, c tool.Call, in editArgs) (tool.Reply, error) {
	if err := in.check(); err != nil {
		return refuse(err)
	}
	v, err := d.open(ctx, c.Caller.Owner)
	if err != nil {
		return refuse(err)
	}
	out := struct {
		Action   string      `json:"action"`
		URI      vault.URI   `json:"uri"`
		Checksum string      `json:"checksum,omitempty"`
		Links    int         `json:"linksChanged,omitempty"`
		Notes    []vault.URI `json:"notesChanged,omitempty"`
	}{Action: in.Action}
	var n *vault.Note
	var left []error
	var b strings.Builder
	change := edit.Change{URI: vault.URI(in.URI), Content: in.Content, Section: in.Section, Find: in.Find, Checksum: in.Checksum}
	switch in.Action {
	case "write":
		n, err = v.Editor.Write(ctx, edit.Note{URI: change.URI, Content: in.Content, Title: in.Title, Tags: in.Tags, Checksum: in.Checksum})
		b.WriteString("Wrote ")
	case "append":
		n, err = v.Editor.Append(ctx, change)
		b.WriteString("Appended to ")
	case "replace":
		n, err = v.Editor.Replace(ctx, change)
		b.WriteString("Replaced the section in ")
	case "find":
		n, err = v.Editor.FindReplace(ctx, change)
		b.WriteString("Replaced the text in ")
	case "delete":
		err = v.Editor.Delete(ctx, change.URI, in.Checksum)
		if err == nil {
			out.URI, err = vault.ParseURI(in.URI)
		}
		fmt.Fprintf(&b, "Deleted %s", out.URI)
	default:
		var m edit.Moved
		m, err = v.Editor.Move(ctx, change.URI, vault.URI(in.To), in.Checksum)
		n, out.Links, out.Notes, left = m.Note, m.Links, m.Notes, m.Left
		b.WriteString("Moved to ")
	}
	if err != nil {
		return refuse(err)
	}
	if n != nil {
		out.URI, out.Checksum = n.URI, edit.Checksum(n)
		fmt.Fprintf(&b, "%s (checksum %s)", out.URI, out.Checksum)
	}
	if out.Links > 0 {
		fmt.Fprintf(&b, "\n%s changed in %s", wording.Count(out.Links, "link", "links"), wording.Count(len(out.Notes), "note", "notes"))
	}
	for _, err := range left {
		fmt.Fprintf(&b, "\n⚠️ links in a note stay as they were: %s", reason(err))
	}
	ignored(&b, c.Unknown)
	reply := tool.JSONReply(out)
	reply.Text = b.String()
	return reply, nil
}
