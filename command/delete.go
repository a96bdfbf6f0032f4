package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
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
	copies  app.Copies
}

// A deletion is what sequent delete has deleted, and what is left.
type deletion struct {
	Sessions      int            `json:"sessions,omitempty"` // with --all
	Deleted       []sequent.ID   `json:"deleted,omitempty"`
	CopiesDeleted []string       `json:"copiesDeleted,omitempty"` // with --everywhere
	NotesLeft     []string       `json:"notesLeft,omitempty"`
	FilesLeft     []string       `json:"filesLeft,omitempty"`
	Rewritten     bool           `json:"rewritten,omitempty"` // the file of the store
	Residue       sqlite.Residue `json:"residue,omitzero"`

	targets []target // that were deleted; nil with --all
	whose   string   // sessions, with --all
}

func runDelete(p *program, ctx context.Context) (result, error) {
	switch {
	case p.all && len(p.args) > 0:
		return nil, misuse(p.cmd, "unexpected argument %q: %s takes either --all or IDs", p.args[0], p.cmd.CommandPath())
	case p.all:
		return p.deleteAll(ctx)
	case len(p.args) == 0:
		return nil, misuse(p.cmd, "%s requires the ID of a session, as printed by sequent list, or --all", p.cmd.CommandPath())
	}
	targets, err := p.targets(ctx)
	if err != nil {
		return nil, err
	}
	if !p.yes {
		if err := p.confirmTargets(ctx, targets); err != nil {
			return nil, err
		}
	}
	d := &deletion{}
	for _, t := range targets {
		// Copies first, because a remaining note restores its session.
		if err = p.deleteCopies(ctx, t.id, t.copies, d); err == nil && t.session != nil {
			err = p.engine.Delete(ctx, t.id)
		}
		if err != nil {
			p.printResult(d) // what was deleted before
			return nil, err
		}
		if t.session != nil {
			d.Deleted = append(d.Deleted, t.id)
		}
		d.targets = append(d.targets, t)
	}
	d.Residue, d.Rewritten, err = p.app.Rewrite(ctx)
	return d, err
}

// targets finds the sessions to delete and their copies.
func (p *program) targets(ctx context.Context) (targets []target, err error) {
	for _, arg := range p.args {
		t := target{id: sequent.ID(arg)}
		t.session, err = p.session(ctx, p.engine, []string{arg})
		switch {
		case err == nil:
			t.id = t.session.ID()
		case sequent.CodeOf(err) != sequent.CodeSessionNotFound || !p.everywhere:
			return nil, err
		}
		var failed error
		if t.copies, failed = p.app.Copies(ctx, sequent.Key{Owner: p.owner, ID: t.id}); failed != nil {
			return nil, failed
		}
		if err != nil && t.copies == (app.Copies{}) {
			return nil, err // there is neither a session nor a copy
		}
		if !slices.ContainsFunc(targets, func(have target) bool { return have.id == t.id }) {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// deleteCopies deletes the copies of a session with --everywhere, and notes those that are kept.
func (p *program) deleteCopies(ctx context.Context, id sequent.ID, c app.Copies, d *deletion) error {
	note, file := string(c.Note), c.File
	if !p.everywhere {
		d.NotesLeft, d.FilesLeft = appendSome(d.NotesLeft, note), appendSome(d.FilesLeft, file)
		return nil
	}
	d.CopiesDeleted = appendSome(d.CopiesDeleted, note, file)
	return p.app.DeleteCopies(ctx, sequent.Key{Owner: p.owner, ID: id}, c)
}

// appendSome appends the texts that are not empty.
func appendSome(to []string, texts ...string) []string {
	return append(to, slices.DeleteFunc(texts, func(text string) bool { return text == "" })...)
}

// deleteAll deletes all sessions of the owner.
func (p *program) deleteAll(ctx context.Context) (result, error) {
	d := &deletion{whose: "your"}
	if p.owner != "" {
		d.whose = printable.Line(p.owner) + "'s"
	}
	if !p.yes {
		page, err := p.engine.Sessions(ctx, sequent.Query{Limit: 1000})
		if err != nil {
			return nil, err
		}
		n := printable.Count(len(page.Headers), "session", "sessions")
		if page.Next != "" {
			n = "more than " + n
		}
		if err := p.ask(ctx, fmt.Sprintf("all %s sessions (%s)", d.whose, n)); err != nil {
			return nil, err
		}
	}
	for h, err := range p.engine.AllSessions(ctx, sequent.Query{}) {
		if err != nil {
			return nil, err
		}
		copies, err := p.app.Copies(ctx, sequent.Key{Owner: p.owner, ID: h.ID})
		if err == nil {
			err = p.deleteCopies(ctx, h.ID, copies, d)
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	if d.Sessions, err = p.engine.Sweep(ctx, sequent.SweepQuery{}); err != nil {
		return nil, err
	}
	d.Residue, d.Rewritten, err = p.app.Rewrite(ctx)
	return d, err
}

func (d *deletion) text(pg *page) {
	for _, t := range d.targets {
		d.describe(pg, t)
	}
	if d.whose != "" {
		pg.say("Deleted all %s sessions (%d).", d.whose, d.Sessions)
		if n := len(d.CopiesDeleted); n > 0 {
			pg.say("Deleted their notes and session files (%d).", n)
		}
		if n := len(d.FilesLeft); n > 0 {
			pg.say("Their session files (%d) are kept. Delete them in %s.", n, filepath.Dir(filepath.Dir(d.FilesLeft[0])))
		}
		if n := len(d.NotesLeft); n > 0 {
			pg.say("Their notes (%d) are kept, with their words in the index of the vault, and sequent vault rebuild would restore the sessions. Pass --everywhere to delete notes, too.",
				n)
		}
	}
	pg.erased(d.Residue, d.Rewritten)
	if _, database := pg.app.Place.Database(); database {
		pg.say("  The database keeps deleted rows until VACUUM, its write-ahead log and dumps as long as you keep them.")
	}
	if pg.everywhere {
		pg.say("Exports and backups may still have the text. sequent does not know where they are: delete them yourself.")
	}
}

// describe says what was deleted of a session, and which copies are kept.
func (d *deletion) describe(pg *page, t target) {
	if t.session != nil {
		pg.say("Deleted %s (%s).", pg.one(string(t.id)), printable.Count(t.session.Len(), "thought", "thoughts"))
	} else {
		pg.say("The session %s is not in the store.", pg.one(string(t.id)))
	}
	if pg.everywhere {
		for _, place := range appendSome(nil, string(t.copies.Note), t.copies.File) {
			pg.say("  Deleted %s.", pg.one(place))
		}
		return
	}
	if t.copies.Note != "" {
		pg.say("  The note %s is kept, with its words in the index of the vault, and sequent vault rebuild would restore the session from it.", pg.one(string(t.copies.Note)))
	}
	if t.copies.File != "" {
		pg.say("  The session file %s is kept.", pg.one(t.copies.File))
	}
	if t.copies != (app.Copies{}) {
		pg.say("  To delete what is kept: %s", pg.next("delete", string(t.id), "--everywhere"))
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
			"  It goes when the last process closes the store, or with sequent store compact when none reads.", pg.one(r.LogFile), (r.Log+1023)>>10)
	}
}

// confirmTargets lists the sessions and the copies to delete, and asks for confirmation.
func (p *program) confirmTargets(ctx context.Context, targets []target) error {
	pg := p.page()
	for _, t := range targets {
		line := draw.Line{{Text: pg.one(string(t.id)) + "  ", Role: draw.Number}}
		if s := t.session; s != nil {
			line = append(line,
				draw.Span{Text: printable.Count(s.Len(), "thought", "thoughts") + "  ", Role: draw.Meta},
				draw.Span{Text: pg.one(s.Title())})
		}
		pg.add(draw.Cut(line, pg.Options))
		for _, place := range appendSome(nil, string(t.copies.Note), t.copies.File) {
			if p.everywhere {
				pg.add(draw.Line{{Text: "  " + pg.one(place), Role: draw.Meta}})
			}
		}
	}
	if err := p.requireTerminal(); err != nil {
		return err
	}
	fmt.Fprint(p.err, p.render(pg.lines))
	what := "this session"
	if len(targets) > 1 {
		what = fmt.Sprintf("these %d sessions", len(targets))
	}
	return p.ask(ctx, what)
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
	return errReported
}

// answer asks a question on the terminal and returns the answer in lower case. It is empty at
// the end of the input, and if ctx ends.
func (p *program) answer(ctx context.Context, question string) (string, error) {
	if err := p.requireTerminal(); err != nil {
		return "", err
	}
	fmt.Fprint(p.err, printable.Line(question)+" ")
	answer := make(chan string, 1)
	go func() {
		var line []byte
		for one := make([]byte, 1); ; { // what follows the line is the next answer
			_, err := io.ReadFull(p.in, one)
			if err != nil {
				fmt.Fprintln(p.err)
			}
			if err != nil || one[0] == '\n' {
				break
			}
			line = append(line, one[0])
		}
		answer <- strings.ToLower(strings.TrimSpace(string(line)))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(p.err)
		return "", nil
	case a := <-answer:
		return a, nil
	}
}
