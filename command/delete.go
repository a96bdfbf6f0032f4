package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A target is a session to delete.
type target struct {
	id      sequent.ID
	session *sequent.Session // nil if only copies are left of it
	copies  []string         // of its text: a note of wiki, a session file of classic
	of      app.Copies
}

// A deletion is what sequent delete has deleted, and what is left.
type deletion struct {
	Sessions      int            `json:"sessions,omitempty"` // with --all
	Deleted       []sequent.ID   `json:"deleted,omitempty"`
	CopiesDeleted []string       `json:"copiesDeleted,omitempty"` // with --everywhere
	CopiesLeft    []string       `json:"copiesLeft,omitempty"`
	Rewritten     bool           `json:"rewritten,omitempty"` // the file of the store
	Residue       sqlite.Residue `json:"residue,omitzero"`

	targets []target // that were deleted; nil with --all
}

func runDelete(p *program, ctx context.Context) (result, error) {
	d := &deletion{}
	var err error
	switch {
	case p.all && len(p.args) > 0:
		return nil, misuse(p.cmd, "unexpected argument %q: %s takes either --all or IDs", p.args[0], p.cmd.CommandPath())
	case p.all:
		err = p.deleteAll(ctx, d)
	case len(p.args) == 0:
		return nil, misuse(p.cmd, "%s requires the ID of a session, as printed by sequent list, or --all", p.cmd.CommandPath())
	default:
		err = p.deleteEach(ctx, d)
	}
	if err != nil {
		if len(d.Deleted) > 0 {
			p.printResult(d) // what was deleted before
		}
		return nil, err
	}
	d.Residue, d.Rewritten, err = p.app.Rewrite(ctx)
	return d, err
}

// deleteEach deletes the sessions of the arguments.
func (p *program) deleteEach(ctx context.Context, d *deletion) error {
	var targets []target
	for _, arg := range p.args {
		t, err := p.target(ctx, arg)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(targets, func(have target) bool { return have.id == t.id }) {
			targets = append(targets, t)
		}
	}
	if !p.yes {
		if err := p.confirm(ctx, targets); err != nil {
			return err
		}
	}
	for _, t := range targets {
		// Copies first, because a remaining note restores its session.
		err := p.deleteCopies(ctx, t, d)
		if err == nil && t.session != nil {
			err = p.engine.Delete(ctx, t.id)
		}
		if err != nil {
			return err
		}
		if d.targets = append(d.targets, t); t.session != nil {
			d.Deleted = append(d.Deleted, t.id)
		}
	}
	return nil
}

// target finds a session to delete and its copies. With --everywhere the session may be gone already.
func (p *program) target(ctx context.Context, arg string) (target, error) {
	s, _, missing := p.session(ctx, []string{arg})
	if missing != nil && (sequent.CodeOf(missing) != sequent.CodeSessionNotFound || !p.everywhere) {
		return target{}, missing
	}
	t := target{id: sequent.ID(arg)}
	if missing == nil {
		t.id, t.session = s.ID(), s
	}
	err := p.findCopies(ctx, &t)
	if err == nil && len(t.copies) == 0 {
		err = missing // there is neither a session nor a copy
	}
	return t, err
}

func (p *program) findCopies(ctx context.Context, t *target) (err error) {
	if t.of, err = p.app.Copies(ctx, sequent.Key{Owner: p.owner, ID: t.id}); err == nil {
		t.copies = slices.DeleteFunc([]string{string(t.of.Note), t.of.File}, func(place string) bool { return place == "" })
	}
	return err
}

// deleteCopies deletes the copies of a session with --everywhere, and notes those that are kept.
func (p *program) deleteCopies(ctx context.Context, t target, d *deletion) error {
	if !p.everywhere {
		d.CopiesLeft = append(d.CopiesLeft, t.copies...)
		return nil
	}
	d.CopiesDeleted = append(d.CopiesDeleted, t.copies...)
	return p.app.DeleteCopies(ctx, sequent.Key{Owner: p.owner, ID: t.id}, t.of)
}

// deleteAll deletes all sessions of the owner.
func (p *program) deleteAll(ctx context.Context, d *deletion) error {
	if !p.yes {
		if err := p.ask(ctx, "all sessions of "+cmp.Or(p.owner, p.nobody())); err != nil {
			return err
		}
	}
	for h, err := range p.engine.AllSessions(ctx, sequent.Query{}) {
		t := target{id: h.ID}
		if err == nil {
			err = p.findCopies(ctx, &t)
		}
		if err == nil {
			err = p.deleteCopies(ctx, t, d)
		}
		if err != nil {
			return err
		}
	}
	var err error
	d.Sessions, err = p.engine.Sweep(ctx, sequent.Query{})
	return err
}

func (d *deletion) text(pg *page) {
	for _, t := range d.targets {
		if t.session != nil {
			pg.say("Deleted %s (%s).", printable.Line(string(t.id)), printable.Count(t.session.Len(), "thought", "thoughts"))
		} else {
			pg.say("The session %s is not in the store.", printable.Line(string(t.id)))
		}
		for _, place := range t.copies {
			if pg.everywhere {
				pg.say("  Deleted %s.", printable.Line(place))
			} else {
				pg.say("  %s is kept.", printable.Line(place))
			}
		}
	}
	if pg.all {
		pg.say("Deleted all sessions of %s (%d).", cmp.Or(pg.owner, pg.nobody()), d.Sessions)
		if n := len(d.CopiesDeleted); n > 0 {
			pg.say("Deleted their notes and session files (%d).", n)
		}
		if n := len(d.CopiesLeft); n > 0 {
			pg.say("Their notes and session files (%d) are kept, such as %s.", n, printable.Line(d.CopiesLeft[0]))
		}
	}
	switch {
	case len(d.CopiesLeft) == 0:
	case pg.all:
		pg.say("They hold the text, and sequent vault rebuild restores sessions from notes: delete them by hand.")
	default:
		pg.say("What is kept holds the text, and sequent vault rebuild restores a session from its note. To delete it, too:\n  %s",
			pg.next(append([]string{"delete", "--everywhere"}, pg.args...)...))
	}
	pg.erased(d.Residue, d.Rewritten)
	if _, database := pg.app.Place.Database(); database {
		pg.say("  The database keeps deleted rows until VACUUM, its write-ahead log and dumps as long as you keep them.")
	}
	if pg.everywhere {
		pg.say("Exports and backups may still have the text. sequent does not know where they are: delete them yourself.")
	}
}

// erased says that the store's file was rewritten after a deletion, or where deleted text may be left.
func (pg *page) erased(r sqlite.Residue, rewritten bool) {
	if rewritten {
		pg.say("Rewrote the store's file without the deleted text.")
	}
	if r.Deleted > 0 {
		pg.say("  Unused parts of the store's file may hold copies of the text of deleted sessions (%d). Run sequent store compact to remove them.", r.Deleted)
	}
	if r.Log > 0 {
		pg.say("  Deleted text may stay in %s (%d KiB), because another process reads the store.\n"+
			"  It goes when the last process closes the store, or with sequent store compact when none reads.", printable.Line(r.LogFile), (r.Log+1023)>>10)
	}
}

// confirm lists the sessions and the copies to delete, and asks for confirmation.
func (p *program) confirm(ctx context.Context, targets []target) error {
	pg := p.page()
	for _, t := range targets {
		line := draw.Line{{Text: printable.Line(string(t.id)) + "  ", Role: draw.Number}}
		if s := t.session; s != nil {
			line = append(line,
				draw.Span{Text: printable.Count(s.Len(), "thought", "thoughts") + "  ", Role: draw.Meta},
				draw.Span{Text: printable.Line(s.Title())})
		}
		pg.add(draw.Cut(line, pg.Options))
		for _, place := range t.copies {
			if p.everywhere {
				pg.add(draw.Line{{Text: "  " + printable.Line(place), Role: draw.Meta}})
			}
		}
	}
	if err := p.requireTerminal(); err != nil {
		return err
	}
	fmt.Fprint(p.err, p.render(pg.lines))
	return p.ask(ctx, printable.Count(len(targets), "session", "sessions"))
}

// requireTerminal returns an error without a terminal on which to ask.
func (p *program) requireTerminal() error {
	if !isTerminal(p.in) || !isTerminal(p.err) {
		return &usageError{msg: "cannot ask for confirmation without a terminal", fix: "pass --yes"}
	}
	return nil
}

// ask asks whether to delete something. Only y and yes confirm.
func (p *program) ask(ctx context.Context, what string) error {
	switch answer, err := p.answer(ctx, "Delete "+what+" permanently? [y/N]"); {
	case err != nil:
		return err
	case answer == "y" || answer == "yes":
		return nil
	}
	p.tell("Nothing was deleted.")
	return exit(exitFailure)
}

// answer asks a question on the terminal and returns the answer in lower case. It is empty at
// the end of the input, and if ctx ends.
func (p *program) answer(ctx context.Context, question string) (string, error) {
	if err := p.requireTerminal(); err != nil {
		return "", err
	}
	fmt.Fprint(p.err, printable.Line(question)+" ")
	var line strings.Builder
	err := unlessCanceled(ctx, func() error {
		for one := make([]byte, 1); ; line.WriteByte(one[0]) { // what follows the line is the next answer
			if _, err := io.ReadFull(p.in, one); err != nil || one[0] == '\n' {
				return err
			}
		}
	})
	if err != nil { // the end of the input, or a signal
		fmt.Fprintln(p.err)
	}
	if ctx.Err() != nil {
		return "", nil
	}
	return strings.ToLower(strings.TrimSpace(line.String())), nil
}

// unlessCanceled runs do, which may read standard input: that cannot be interrupted. If ctx ends first, do goes on
// until the program ends.
func unlessCanceled(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "canceled", Err: ctx.Err()}
	}
}
