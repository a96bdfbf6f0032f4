package command

import (
	"context"
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
		Short: "Synchronise, check and index the notes of the dialect wiki",
		Long: `Manage the notes of sequent serve --dialect wiki. Its sessions are in the store and also appear in
Markdown notes, which you can edit. A server synchronises both when it starts; these commands do it
without a server.`,
		Example: "# after editing notes or after a crash\nsequent vault sync\n\n# report differences without changing anything\nsequent vault check\n\n" +
			"# another vault\nsequent vault check --vault ~/Notes",
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&dir, "vault", "", "folder of notes (default: Documents/sequent-vault in your home directory)")
	if err := c.MarkPersistentFlagDirname("vault"); err != nil {
		panic(err) // no such flag
	}
	add := func(sub *cobra.Command, run func(context.Context) error) {
		sub.Args = arguments(0, 0, "")
		sub.RunE = func(c *cobra.Command, _ []string) error { return run(c.Context()) }
		p.addJSONFlag(sub)
		p.addOwnerFlag(sub)
		p.addWidthFlag(sub)
		c.AddCommand(sub)
	}
	add(vaultSync(), func(ctx context.Context) error { return p.syncVault(ctx, dir, false) })
	add(vaultCheck(), func(ctx context.Context) error { return p.checkVault(ctx, dir) })
	add(vaultRebuild(), func(ctx context.Context) error { return p.syncVault(ctx, dir, true) })
	return c
}

func vaultSync() *cobra.Command {
	return &cobra.Command{
		Use:   "sync",
		Short: "Synchronise sessions, notes and the index",
		Long: `Synchronise sessions, notes and the index: add missing thoughts to notes, add sessions that exist only
in notes to the store, and index changed notes. Your own edits and deletions are kept. A second run
changes nothing.

--json prints {"notes", "changed", "removed", "concepts", "relations", "orphans", "sessions", "problems":
[string]}; sessions counts those that were repaired.`,
		Example: "sequent vault sync\n\n# adopt a Maenifold folder with its sessions\nsequent vault sync --vault ~/maenifold/memory",
	}
}

func vaultRebuild() *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Rebuild the index and restore deleted thoughts in notes",
		Long: `Rebuild the index from the notes, and restore thoughts that were deleted from notes of sessions. Use it
if a search misses notes, or if notes were lost: in a vault without notes of sessions it creates the
notes of all sessions of the dialect wiki. Your own edits are kept.

--json prints the same object as sequent vault sync --json.`,
		Example: "sequent vault rebuild\nsequent vault rebuild --vault ~/Notes",
	}
}

func vaultCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Report differences between sessions and notes",
		Long: `Report differences between sessions and their notes, unreadable notes, and mistakes in workflow files.
It changes nothing. The exit code is 1 if there are problems. Your own edits and deletions are reported
too, but are not problems.

--json prints {"ok": bool, "notes", "findings": [{problem, place, session, thoughts, text, "mended":
bool, "wrong": bool}]}; mended means that sync repairs it, wrong that it is a problem.`,
		Example: "sequent vault check\n\n# the notes that sync would repair\nsequent vault check --json | jq -r '.findings[] | select(.mended).place'",
	}
}

// withVault runs do with the vaults. Open is app.Open or app.OpenExisting.
func (p *program) withVault(ctx context.Context, dir string, open func(context.Context, app.Config) (*app.App, error), do func(v *vaults.Vaults) error) error {
	cfg := p.config()
	cfg.Vault, cfg.Agent = dir, p.getenv("AGENT_ID")
	cfg.Model.Getenv = p.getenv
	return p.withApp(ctx, open, cfg, func(a *app.App) error {
		v, err := a.Vaults(false)
		if err != nil {
			return err
		}
		return do(v)
	})
}

// stage shows the progress of a stage.
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
			return writeJSON(p.out, r)
		}
		lines := []draw.Line{
			{{Text: fmt.Sprintf("%s (%d changed, %d removed)", draw.Count(r.Notes, "note", "notes"), r.Changed, r.Removed)}},
			{{Text: fmt.Sprintf("%s, %s, %d orphaned", draw.Count(r.Concepts, "concept", "concepts"),
				draw.Count(r.Relations, "relation", "relations"), r.Orphans), Role: draw.Meta}},
		}
		if r.Sessions > 0 {
			lines = append(lines, draw.Line{{Text: draw.Count(r.Sessions, "session", "sessions") + " repaired"}})
		}
		for _, problem := range r.Problems {
			lines = append(lines, draw.Beside(draw.Line{{Text: "- "}}, draw.One(problem, p.charset()), draw.Tag, p.drawing())...)
		}
		return p.print(lines...)
	})
}

func (p *program) checkVault(ctx context.Context, dir string) error {
	return p.withVault(ctx, dir, app.OpenExisting, func(v *vaults.Vaults) error {
		findings, wrong, mended := []vaults.Finding{}, 0, 0
		notes, err := v.Check(ctx, p.owner, func(f vaults.Finding) {
			findings = append(findings, f)
			if f.Wrong {
				wrong++
			}
			if f.Repairable {
				mended++
			}
		})
		if err != nil {
			return err
		}
		if p.json {
			err = writeJSON(p.out, struct {
				OK       bool             `json:"ok"`
				Notes    int              `json:"notes"`
				Findings []vaults.Finding `json:"findings"`
			}{wrong == 0, notes, findings})
		} else {
			err = p.printFindings(notes, mended, findings)
		}
		if err == nil && wrong > 0 {
			err = errReported
		}
		return err
	})
}

func (p *program) printFindings(notes, mended int, findings []vaults.Finding) error {
	var lines []draw.Line
	for _, f := range findings {
		role := draw.Meta // the user's own edits
		if f.Wrong {
			role = draw.Text
		}
		lines = append(lines, draw.Beside(draw.Line{{Text: "- "}}, draw.One(f.Text, p.charset()), role, p.drawing())...)
	}
	text := draw.Count(notes, "note", "notes") + " checked. "
	switch {
	case len(findings) == 0:
		text += "No differences."
	case mended > 0:
		text += fmt.Sprintf("Run sequent vault sync to repair %s.", draw.Count(mended, "difference", "differences"))
	default:
		text += "There is nothing for sequent vault sync to repair."
	}
	return p.print(append(lines, draw.Line{{Text: text}})...)
}
