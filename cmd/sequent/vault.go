package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/app/vaults"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) vault() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "vault COMMAND",
		Short: "Look after the notes of the dialect wiki",
		Long: `Look after the folder of notes of sequent serve --dialect wiki. The thoughts of sessions are in the
store and stand in notes as well; notes belong to you. A server brings both in step by itself when it
starts; these commands do so when no server runs, and tell what they find.`,
		Example: "# after editing notes, or after a crash\nsequent vault sync\n\n# what differs? nothing is changed\nsequent vault check\n\n" +
			"# of another folder\nsequent vault check --vault ~/Notes",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse(c, "there is no command %q of sequent vault", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&dir, "vault", "", "the folder of notes, a `DIR` (default: Documents/sequent-vault in your home directory)")
	if err := c.MarkPersistentFlagDirname("vault"); err != nil {
		panic(err) // there is no such flag
	}
	c.AddCommand(p.vaultSync(&dir), p.vaultCheck(&dir), p.vaultRebuild(&dir))
	return c
}

func (p *program) vaultSync(dir *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "sync",
		Short: "Bring sessions, notes and the index in step",
		Long: `Bring sessions, notes and the index in step: notes get the thoughts that they lack, the store gets
sessions that only notes tell of, and the index the notes that have changed. What you have written,
changed or deleted stays so. Doing it again changes nothing.

With --json: {"notes", "changed", "removed", "concepts", "relations", "orphans", "sessions" that were
mended, "problems": [string]}.`,
		Example: "sequent vault sync\n\n# a folder of Maenifold's, with the sessions in it\nsequent vault sync --vault ~/maenifold/memory",
		Args:    arguments(0, 0, ""),
		RunE:    func(c *cobra.Command, _ []string) error { return p.syncVault(c.Context(), *dir, false) },
	}
	p.asJSON(c)
	p.hasOwner(c)
	p.hasWidth(c)
	return c
}

func (p *program) vaultRebuild(dir *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "rebuild",
		Short: "Make the index anew, and bring deleted thoughts back into notes",
		Long: `Make the index anew from the notes, and bring those thoughts of sessions back into their notes that
were deleted there. What you have written or changed stays so. It is for an index that does not find
what is there, and for notes that were lost: in a folder without the note of any session it makes those of
all sessions of the dialect wiki.

With --json: what sequent vault sync writes.`,
		Example: "sequent vault rebuild\nsequent vault rebuild --vault ~/Notes",
		Args:    arguments(0, 0, ""),
		RunE:    func(c *cobra.Command, _ []string) error { return p.syncVault(c.Context(), *dir, true) },
	}
	p.asJSON(c)
	p.hasOwner(c)
	p.hasWidth(c)
	return c
}

func (p *program) vaultCheck(dir *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "check",
		Short: "Tell what differs between sessions and notes, and change nothing",
		Long: `Tell what differs between the sessions of the store and their notes, which notes cannot be read, and
which files of workflows have mistakes. It changes nothing. The exit code is 1 if something is not as
it should be; that you have edited or deleted something is told and is no mistake.

With --json: {"ok": bool, "notes", "findings": [{problem, place, session, thoughts, text, "mended" by
sync, "wrong": bool}]}.`,
		Example: "sequent vault check\n\n# for programs: the notes that sync would mend\nsequent vault check --json | jq -r '.findings[] | select(.mended).place'",
		Args:    arguments(0, 0, ""),
		RunE:    func(c *cobra.Command, _ []string) error { return p.checkVault(c.Context(), *dir) },
	}
	p.asJSON(c)
	p.hasOwner(c)
	p.hasWidth(c)
	return c
}

// withVault runs a command on the vaults. Open makes the store or only looks
// at it.
func (p *program) withVault(ctx context.Context, dir string, open func(context.Context, app.Config) (*app.App, error), do func(v *vaults.Vaults) error) error {
	cfg := p.config()
	cfg.Vault, cfg.Agent = dir, p.getenv("AGENT_ID")
	cfg.Model.Getenv = p.getenv
	a, err := open(ctx, cfg)
	if err != nil {
		return err
	}
	v, err := a.Vaults(false)
	if err == nil {
		err = do(v)
	}
	return errors.Join(err, a.Close())
}

// stage shows how far something is.
func (m *meter) stage(name string, done, total float64) {
	m.show(fmt.Sprintf("%s %.0f of %.0f", name, done, total))
}

func (p *program) syncVault(ctx context.Context, dir string, rebuild bool) error {
	return p.withVault(ctx, dir, app.Open, func(v *vaults.Vaults) error {
		m := p.newMeter()
		r, err := v.Sync(ctx, p.owner, rebuild, m.stage)
		m.clear()
		if err != nil {
			return err
		}
		if p.json {
			if r.Problems == nil {
				r.Problems = []string{}
			}
			return writeJSON(p.out, struct {
				Notes     int      `json:"notes"`
				Changed   int      `json:"changed"`
				Removed   int      `json:"removed"`
				Concepts  int      `json:"concepts"`
				Relations int      `json:"relations"`
				Orphans   int      `json:"orphans"`
				Sessions  int      `json:"sessions"`
				Problems  []string `json:"problems"`
			}{r.Notes, r.Changed, r.Removed, r.Concepts, r.Relations, r.Orphans, r.Sessions, r.Problems})
		}
		lines := []draw.Line{
			{{Text: fmt.Sprintf("%s: %d read, %d gone.", draw.Count(r.Notes, "note", "notes"), r.Changed, r.Removed)}},
			{{Text: fmt.Sprintf("%s, %s between them, %d by themselves.", draw.Count(r.Concepts, "concept", "concepts"),
				draw.Count(r.Relations, "relation", "relations"), r.Orphans), Role: draw.Meta}},
		}
		if r.Sessions > 0 {
			lines = append(lines, draw.Line{{Text: fmt.Sprintf("%s brought in step.", draw.Count(r.Sessions, "session", "sessions"))}})
		}
		for _, problem := range r.Problems {
			lines = append(lines, draw.Beside(draw.Line{{Text: "- "}}, draw.One(problem, p.charset()), draw.Tag, p.drawing())...)
		}
		return p.print(lines...)
	})
}

// A jsonFinding is a [vaults.Finding].
type jsonFinding struct {
	Problem  string `json:"problem"`
	Place    string `json:"place,omitempty"`
	Session  string `json:"session,omitempty"`
	Thoughts []int  `json:"thoughts,omitempty"`
	Text     string `json:"text"`
	Mended   bool   `json:"mended"`
	Wrong    bool   `json:"wrong"`
}

func (p *program) checkVault(ctx context.Context, dir string) error {
	return p.withVault(ctx, dir, app.OpenExisting, func(v *vaults.Vaults) error {
		findings, wrong, mended := []jsonFinding{}, 0, 0
		notes, err := v.Check(ctx, p.owner, func(f vaults.Finding) {
			findings = append(findings, jsonFinding{f.Problem, f.Place, string(f.Session), f.Thoughts, f.Text, f.Mended, f.Wrong})
			if f.Wrong {
				wrong++
			}
			if f.Mended {
				mended++
			}
		})
		if err != nil {
			return err
		}
		if p.json {
			err = writeJSON(p.out, struct {
				OK       bool          `json:"ok"`
				Notes    int           `json:"notes"`
				Findings []jsonFinding `json:"findings"`
			}{wrong == 0, notes, findings})
		} else {
			err = p.printFindings(notes, mended, findings)
		}
		if err == nil && wrong > 0 {
			err = errQuiet
		}
		return err
	})
}

func (p *program) printFindings(notes, mended int, findings []jsonFinding) error {
	var lines []draw.Line
	for _, f := range findings {
		role := draw.Meta // a person's own doing
		if f.Wrong {
			role = draw.Text
		}
		lines = append(lines, draw.Beside(draw.Line{{Text: "- "}}, draw.One(f.Text, p.charset()), role, p.drawing())...)
	}
	text := draw.Count(notes, "note", "notes") + " looked at. "
	switch {
	case len(findings) == 0:
		text += "All is in step."
	case mended > 0:
		text += fmt.Sprintf("sequent vault sync mends %d of these.", mended)
	default:
		text += "There is nothing for sequent vault sync to mend."
	}
	return p.print(append(lines, draw.Line{{Text: text}})...)
}
