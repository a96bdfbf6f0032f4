package main

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
		Short: "Copy all sessions from one store into another",
		Long: `Copy the sessions of all owners from one store into another, as they are: with their ids, times, labels,
request keys and times of expiry. What has expired is left out. A session comes over as a whole or not
at all.

What the other store has already is not copied again: if it is stopped, or fails, the same command goes
on, and later it brings what is new. The stores may be in use meanwhile; what changes while it runs
comes with the next run at the latest. A session that has gone on in the other store only is left
alone. One that has gone on in both, or is another, is reported and left as it is, the rest goes on, and
the exit code is 1.

A password in an address can be seen by other users of this machine while the command runs:
SEQUENT_FROM and SEQUENT_TO in the environment, PGPASSWORD and ~/.pgpass keep it to yourself.

With --json, one object a line for each session but those that were there: {"session", "owner",
"outcome": "added", "extended" or "failed", "title", "thoughts", "error": {code, message, fix}}, and at
the end {"summary": {"added", "extended", "unchanged", "failed", "thoughts"}, "complete"}.`,
		Example: "# from your file into a database, and later what is new\nsequent copy --to postgres://sequent@db/sequent\n\n" +
			"# and back\nsequent copy --from postgres://sequent@db/sequent --to ./sessions.db",
		Args: arguments(0, 0, ""),
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return misuse(c, "sequent copy needs --to, the store to copy into")
			}
			k := &copying{program: p, meter: p.newMeter()}
			sum, err := app.Copy(c.Context(), p.config(), app.CopyConfig{
				From: cmp.Or(from, p.store), To: to, Report: k.report, Progress: k.progress,
			})
			k.meter.clear()
			return k.end(sum, cmp.Or(err, k.err), c.Context().Err() != nil)
		},
	}
	c.Flags().StringVar(&from, "from", "", "the `STORE` to copy from, as in --store (default: that of --store)")
	c.Flags().StringVar(&to, "to", "", "the `STORE` to copy into, as in --store; it is made if there is none")
	p.asJSON(c)
	p.hasWidth(c)
	return c
}

// A copying is one run of sequent copy.
type copying struct {
	*program
	meter *meter
	err   error // of the output
}

// report tells programs of each session, people of those that fail.
func (k *copying) report(s transfer.Result) {
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
			Error    *complaint `json:"error,omitempty"`
		}{string(s.Key.ID), s.Key.Owner, string(s.Outcome), s.Title, s.Thoughts, nil}
		if s.Err != nil {
			c := complain(s.Err, "")
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
	c := complain(s.Err, "")
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

func (k *copying) progress(s transfer.Summary) {
	k.meter.show(fmt.Sprintf("%s  %s copied", draw.Count(s.Added+s.Extended+s.Unchanged+s.Failed, "session", "sessions"),
		draw.Count(s.Thoughts, "thought", "thoughts")))
}

// end says how it went. What was copied before a failure stays.
func (k *copying) end(s transfer.Summary, err error, stopped bool) error {
	done := s.Added+s.Extended+s.Unchanged+s.Failed > 0
	if err == nil || done {
		if telling := k.summary(s, err == nil); err == nil {
			err = telling
		}
	}
	switch {
	case stopped:
		return &sequent.Error{
			Code: sequent.CodeCanceled, Msg: "stopped before everything was copied",
			Fix: "the same command goes on from there",
		}
	case err == nil && s.Failed > 0:
		return errQuiet
	}
	return err
}

func (k *copying) summary(s transfer.Summary, complete bool) error {
	if k.json {
		return writeJSON(k.out, struct {
			Summary  jsonCopied `json:"summary"`
			Complete bool       `json:"complete"`
		}{jsonCopied(s), complete})
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
	return k.say("%s.", text)
}

// A jsonCopied is an [transfer.Summary].
type jsonCopied struct {
	Added     int `json:"added"`
	Extended  int `json:"extended"`
	Unchanged int `json:"unchanged"`
	Failed    int `json:"failed"`
	Thoughts  int `json:"thoughts"`
}
