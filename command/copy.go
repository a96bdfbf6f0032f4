package command

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive/importer"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/transfer"
)

func (p *program) copy() *cobra.Command {
	var from, to string
	c := &cobra.Command{
		Use:   "copy --to STORE",
		Short: "Copy all sessions from one store to another",
		Long: `Copy the sessions of all owners from one store to another, with their ids, times, labels, request keys
and expiry times. Expired sessions are skipped. Each session is copied completely or not at all.

Run the command again to continue after an interruption, or to copy later changes; it skips sessions
that the target has already. Both stores may be in use. A session that has continued only in the target
is left alone. A session that has continued in both stores, or has the id of another one, is reported
and left alone; then the exit code is 1.

Other users of this machine can see a password on the command line. Pass it with SEQUENT_FROM and
SEQUENT_TO, PGPASSWORD or ~/.pgpass instead.

--json prints one object per line for each session that was not in the target: {"session", "owner",
"outcome": "added", "extended" or "failed", "title", "thoughts", "error": {code, message, fix}}. The last
line is {"summary": {"added", "extended", "unchanged", "failed", "thoughts"}, "complete"}.`,
		Example: "# from your default store to a database\nsequent copy --to postgres://sequent@db/sequent\n\n" +
			"# from the database to a file\nsequent copy --from postgres://sequent@db/sequent --to ./sessions.db",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return misuse(c, "sequent copy requires --to")
			}
			k := &copyRun{program: p, meter: p.newMeter()}
			sum, err := app.Copy(c.Context(), p.config(), app.CopyConfig{
				From: cmp.Or(from, p.store), To: to, Report: k.report, Progress: k.progress,
			})
			k.meter.clear()
			return k.end(sum, cmp.Or(err, k.err), c.Context().Err() != nil)
		},
	}
	c.Flags().StringVar(&from, "from", "", "source store, in the form of --store (default: the value of --store)")
	c.Flags().StringVar(&to, "to", "", "target store, in the form of --store; created if it does not exist")
	p.addJSONFlag(c)
	p.addWidthFlag(c)
	return c
}

// A copyRun is one run of sequent copy.
type copyRun struct {
	*program
	meter *meter
	err   error // error of writing the output
}

// report writes the result of a session. Text output has only failed sessions.
func (k *copyRun) report(s transfer.Result) {
	if k.err != nil {
		return
	}
	if k.json {
		out := struct {
			Session  string     `json:"session"`
			Owner    string     `json:"owner,omitempty"`
			Outcome  string     `json:"outcome"`
			Title    string     `json:"title,omitempty"`
			Thoughts int        `json:"thoughts"`
			Error    *userError `json:"error,omitempty"`
		}{string(s.Key.ID), s.Key.Owner, string(s.Outcome), s.Title, s.Thoughts, nil}
		if s.Err != nil {
			c := newUserError(s.Err, "")
			out.Error = &c
		}
		k.err = writeJSON(k.out, out)
		return
	}
	if s.Outcome != importer.Failed {
		return
	}
	k.meter.clear()
	o := k.drawing()
	c := newUserError(s.Err, "")
	of := ""
	if s.Key.Owner != "" {
		of = "of " + draw.One(s.Key.Owner, o.Charset) + ": "
	}
	lines := draw.Beside(draw.Line{{Text: "failed  ", Role: draw.Tag}}, of+draw.One(c.Message, o.Charset), draw.Text, o)
	if c.Fix != "" {
		lines = append(lines, draw.Beside(draw.Line{{Text: "        "}}, draw.One(c.Fix, o.Charset), draw.Meta, o)...)
	}
	k.err = k.print(lines...)
}

func (k *copyRun) progress(s transfer.Summary) {
	k.meter.show(fmt.Sprintf("%s  %s copied", draw.Count(s.Added+s.Extended+s.Unchanged+s.Failed, "session", "sessions"),
		draw.Count(s.Thoughts, "thought", "thoughts")))
}

// end writes the summary, also after a failure that left sessions copied.
func (k *copyRun) end(s transfer.Summary, err error, canceled bool) error {
	done := s.Added+s.Extended+s.Unchanged+s.Failed > 0
	if err == nil || done {
		if writeErr := k.summary(s, err == nil); err == nil {
			err = writeErr
		}
	}
	switch {
	case canceled:
		return &sequent.Error{
			Code: sequent.CodeCanceled, Msg: "canceled before all sessions were copied",
			Fix: "run the same command again to continue",
		}
	case err == nil && s.Failed > 0:
		return errReported
	}
	return err
}

func (k *copyRun) summary(s transfer.Summary, complete bool) error {
	if k.json {
		return writeJSON(k.out, struct {
			Summary  transfer.Summary `json:"summary"`
			Complete bool             `json:"complete"`
		}{s, complete})
	}
	text := draw.Count(s.Added, "session", "sessions") + " added"
	if s.Extended > 0 {
		text += fmt.Sprintf(", %d extended", s.Extended)
	}
	if s.Unchanged > 0 {
		text += fmt.Sprintf(", %d unchanged", s.Unchanged)
	}
	text += ", with " + draw.Count(s.Thoughts, "thought", "thoughts")
	if s.Failed > 0 {
		text += fmt.Sprintf("; %d failed", s.Failed)
	}
	return k.printf("%s.", text)
}
