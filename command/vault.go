package command

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
		Short: "Synchronise, check and index the notes of the dialect wiki",
		Long: `Manage the notes of sequent serve --dialect wiki. Its sessions are in the store and also appear in
Markdown notes, which you can edit. A server synchronises both when it starts; these commands do it
without a server.`,
		Example: "# after editing notes or after a crash\nsequent vault sync\n\n# report differences without changing anything\nsequent vault check\n\n" +
			"# another vault\nsequent vault check --vault ~/Notes",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return misuse(c, "unknown command %q of sequent vault", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.PersistentFlags().StringVar(&dir, "vault", "", "folder of notes (default: Documents/sequent-vault in your home directory)")
	if err := c.MarkPersistentFlagDirname("vault"); err != nil {
		panic(err) // no such flag
	}
	c.AddCommand(p.vaultSync(&dir), p.vaultCheck(&dir), p.vaultRebuild(&dir))
	return c
}

func (p *program) vaultSync(dir *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "sync",
		Short: "Synchronise sessions, notes and the index",
		Long: `Synchronise sessions, notes and the index: add missing thoughts to notes, add sessions that exist only
in notes to the store, and index changed notes. Your own edits and deletions are kept. A second run
changes nothing.

--json prints {"notes", "changed", "removed", "concepts", "relations", "orphans", "sessions", "problems":
[string]}; sessions counts those that were repaired.`,
		Example: "sequent vault sync\n\n# adopt a Maenifold folder with its sessions\nsequent vault sync --vault ~/maenifold/memory",
		Args:    arguments(0, 0, ""),
		RunE:    func(c *cobra.Command, _ []string) error { return p.syncVault(c.Context(), *dir, false) },
	}
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addWidthFlag(c)
	return c
}

func (p *program) vaultRebuild(dir *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "rebuild",
		Short: "Rebuild the index and restore deleted thoughts in notes",
		Long: `Rebuild the index from the notes, and restore thoughts that were deleted from notes of sessions. Use it
if a search misses notes, or if notes were lost: in a vault without notes of sessions it creates the
notes of all sessions of the dialect wiki. Your own edits are kept.

--json prints the same object as sequent vault sync --json.`,
		Example: "sequent vault rebuild\nsequent vault rebuild --vault ~/Notes",
		Args:    arguments(0, 0, ""),
		RunE:    func(c *cobra.Command, _ []string) error { return p.syncVault(c.Context(), *dir, true) },
	}
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addWidthFlag(c)
	return c
}

func (p *program) vaultCheck(dir *string) *cobra.Command {
	c := &cobra.Command{
		Use:   "check",
		Short: "Report differences between sessions and notes",
		Long: `Report differences between sessions and their notes, unreadable notes, and mistakes in workflow files.
It changes nothing. The exit code is 1 if there are problems. Your own edits and deletions are reported
too, but are not problems.

--json prints {"ok": bool, "notes", "findings": [{problem, place, session, thoughts, text, "mended":
bool, "wrong": bool}]}; mended means that sync repairs it, wrong that it is a problem.`,
		Example: "sequent vault check\n\n# the notes that sync would repair\nsequent vault check --json | jq -r '.findings[] | select(.mended).place'",
		Args:    arguments(0, 0, ""),
		RunE:    func(c *cobra.Command, _ []string) error { return p.checkVault(c.Context(), *dir) },
	}
	p.addJSONFlag(c)
	p.addOwnerFlag(c)
	p.addWidthFlag(c)
	return c
}

// withVault runs do with the vaults. Open is app.Open or app.OpenExisting.
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

// A jsonFinding is a [vaults.Finding] in JSON output.
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
			findings = append(findings, jsonFinding{f.Problem, f.Place, string(f.Session), f.Thoughts, f.Text, f.Repairable, f.Wrong})
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
				OK       bool          `json:"ok"`
				Notes    int           `json:"notes"`
				Findings []jsonFinding `json:"findings"`
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

func (p *program) printFindings(notes, mended int, findings []jsonFinding) error {
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
