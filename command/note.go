package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/worktree"
	"github.com/sequent-dev/sequent/web"
)

func (p *program) noteThought() *cobra.Command {
	var wrong, approve bool
	var from string
	c := &cobra.Command{
		Use:   "note ID#N [TEXT...]",
		Short: "Tell the agent what you think of a thought",
		Long: `Add a note to a thought. The agent reads it in the reply to its next thought in the dialect standard, and
in what it recalls. The session goes on as before; a note works while the agent is thinking.

ID#9 is the latest thought with the number 9 on the main line, ID#name#9 the one on the branch name, and
ID@17 the one at position 17 of the log. The ID can be shortened to its first characters.

--wrong says that the thought does not hold: it is disputed until it is revised or approved. --approve says
that it holds. Both can have a text.

With --server the note is written to a session of one's own on a server, which says whose token it was.

--json prints {"session", "seq", "kind", "text", "from", "at", "owner"}.`,
		Example: "sequent note 7k3#4 \"the log says otherwise\"\n\n# it is wrong, and why\nsequent note 7k3#4 --wrong \"the pool has 20 connections, not 5\"\n\n" +
			"# it holds\nsequent note 7k3#4 --approve",
		Args:              arguments(1, -1, "a thought, such as 7k3#4, and a text"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			n := sequent.Note{Kind: sequent.Remark, Text: strings.Join(args[1:], " "), From: cmp.Or(from, p.person())}
			switch {
			case wrong && approve:
				return usagef("--wrong and --approve are mutually exclusive")
			case wrong:
				n.Kind = sequent.Wrong
			case approve:
				n.Kind = sequent.Approval
			case strings.TrimSpace(n.Text) == "":
				return misuse(c, "%s requires a text, --wrong or --approve", c.CommandPath())
			}
			remote, err := p.fromServer()
			if err != nil {
				return err
			}
			record := recordNote
			if remote {
				if c.Flags().Changed("from") && !slices.Contains(p.inherited, "from") {
					return &usageError{msg: "--from is for notes in a store: a server knows whose token it is", fix: "leave --from out"}
				}
				record = p.sendNote
			}
			return p.withStore(c.Context(), func(a *app.App) error {
				return p.addNote(c.Context(), a, args[0], n, record)
			})
		},
	}
	c.Flags().BoolVar(&wrong, "wrong", false, "the thought does not hold")
	c.Flags().BoolVar(&approve, "approve", false, "the thought holds")
	c.Flags().StringVar(&from, "from", "", "`NAME` of the person (default: user.name of git, else USER or USERNAME)")
	p.addJSONFlag(c)
	p.addOwnersFlags(c)
	p.addServerFlag(c)
	return c
}

// person returns the name of the user, or "".
func (p *program) person() string {
	configurations := []string{p.getenv("GIT_CONFIG_GLOBAL")}
	if home, err := os.UserHomeDir(); err == nil && configurations[0] == "" {
		base := cmp.Or(p.getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
		configurations = []string{filepath.Join(home, ".gitconfig"), filepath.Join(base, "git", "config")}
	}
	return cmp.Or(worktree.Person("", configurations...), p.getenv("USER"), p.getenv("USERNAME"))
}

// addNote has record add a note to the thought that an argument refers to.
func (p *program) addNote(ctx context.Context, a *app.App, reference string, n sequent.Note, record func(context.Context, referred, sequent.Note) (sequent.Note, error)) error {
	if err := p.checkOwner(ctx, a); err != nil {
		return err
	}
	found, err := p.refer(ctx, a.Engine, []string{reference})
	if err != nil {
		return err
	}
	id := found.session.ID()
	if !found.reference.NamesThought() {
		return &usageError{
			msg: fmt.Sprintf("%s is a session, and a note belongs to a thought", id),
			fix: fmt.Sprintf("pass %s#N with the number of the thought", id),
		}
	}
	t, err := found.session.Resolve(found.reference)
	if err != nil {
		return err
	}
	n.Seq = t.Seq
	if n, err = record(ctx, found, n); err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, newJSONNote(found.session.Key(), n))
	}
	return p.printf("Noted at thought %s of session %s.", draw.One(brief.Name(t), p.charset()), draw.One(string(id), p.charset()))
}

// recordNote adds a note to a session of a store, and returns what was recorded.
func recordNote(ctx context.Context, to referred, n sequent.Note) (sequent.Note, error) {
	s, err := to.engine.Update(ctx, to.session.ID(), func(c *sequent.Change) error { return c.AddNote(n) })
	if err != nil {
		return n, err
	}
	notes := s.Notes()
	return notes[len(notes)-1], nil
}

// sendNote is recordNote for a session of the server.
func (p *program) sendNote(ctx context.Context, to referred, n sequent.Note) (sequent.Note, error) {
	r, err := p.connect(p.server)
	if err != nil {
		return n, err
	}
	body, err := json.Marshal(map[string]any{"id": to.session.ID(), "seq": n.Seq, "kind": n.Kind, "text": n.Text})
	if err != nil {
		return n, err
	}
	var made web.Note
	err = r.post(ctx, "notes", url.Values{"owner": {to.session.Owner()}}, body, &made)
	n.From, n.At = made.From, made.At
	return n, r.storeError(err)
}

// A jsonNote is a note in JSON output.
type jsonNote struct {
	Session string           `json:"session"`
	Seq     int              `json:"seq"` // of the thought
	Kind    sequent.NoteKind `json:"kind"`
	Text    string           `json:"text,omitempty"`
	From    string           `json:"from,omitempty"`
	At      time.Time        `json:"at"`
	Owner   string           `json:"owner,omitempty"` // of the session; empty for the local user
}

func newJSONNote(k sequent.Key, n sequent.Note) jsonNote {
	return jsonNote{string(k.ID), n.Seq, n.Kind, n.Text, n.From, n.At, k.Owner}
}
