package command

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// copiesFlag says which copies outside the store are deleted.
type copiesFlag struct {
	note       bool // the note
	everywhere bool // all
}

// selected returns the copies to delete and those to keep.
func (f copiesFlag) selected(c app.Copies) (deleted, kept app.Copies) {
	if f.note || f.everywhere {
		deleted.Note, c.Note = c.Note, ""
	}
	if f.everywhere {
		deleted.File, c.File = c.File, ""
	}
	return deleted, c
}

// A target is a session to delete.
type target struct {
	id      sequent.ID
	session *sequent.Session // nil if only copies are left of it
	copies  app.Copies
}

// A deletion is a run of sequent delete.
type deletion struct {
	*program
	app     *app.App
	which   copiesFlag
	targets []target
}

// find finds the sessions to delete and their copies.
func (d *deletion) find(ctx context.Context, args []string) error {
	for _, arg := range args {
		s, err := find(ctx, d.app.Engine, arg)
		t := target{id: sequent.ID(arg), session: s}
		switch {
		case err == nil:
			t.id = s.ID()
		case sequent.CodeOf(err) != sequent.CodeSessionNotFound || !d.which.everywhere:
			return err
		}
		copies, failed := d.app.Copies(ctx, d.key(t.id))
		if failed != nil {
			return failed
		}
		if err != nil && copies == (app.Copies{}) {
			return err // there is neither a session nor a copy
		}
		t.copies = copies
		if !slices.ContainsFunc(d.targets, func(have target) bool { return have.id == t.id }) {
			d.targets = append(d.targets, t)
		}
	}
	return nil
}

func (d *deletion) key(id sequent.ID) sequent.Key { return sequent.Key{Owner: d.owner, ID: id} }

// removed is what a deletion prints as JSON.
type removed struct {
	Deleted       []string       `json:"deleted,omitempty"`
	CopiesDeleted []string       `json:"copiesDeleted,omitempty"` // with --everywhere
	NotesLeft     []string       `json:"notesLeft,omitempty"`
	FilesLeft     []string       `json:"filesLeft,omitempty"`
	Residue       sqlite.Residue `json:"residue,omitzero"`
}

// removeCopies deletes the selected copies of a session and returns those that are kept.
func (d *deletion) removeCopies(ctx context.Context, id sequent.ID, copies app.Copies, out *removed) (kept app.Copies, err error) {
	selected, kept := d.which.selected(copies)
	if err := d.app.DeleteCopies(ctx, d.key(id), selected); err != nil {
		return kept, err
	}
	for _, place := range []string{string(selected.Note), selected.File} {
		if place != "" && d.which.everywhere {
			out.CopiesDeleted = append(out.CopiesDeleted, place)
		}
	}
	if kept.Note != "" {
		out.NotesLeft = append(out.NotesLeft, string(kept.Note))
	}
	if kept.File != "" {
		out.FilesLeft = append(out.FilesLeft, kept.File)
	}
	return kept, nil
}

// sessions deletes the targets.
func (d *deletion) sessions(ctx context.Context) error {
	out := removed{Deleted: []string{}}
	for _, t := range d.targets {
		before := len(out.CopiesDeleted)
		// Copies first, because a remaining note restores its session.
		kept, err := d.removeCopies(ctx, t.id, t.copies, &out)
		if err != nil {
			return err
		}
		if t.session != nil {
			if err := d.app.Engine.Delete(ctx, t.id); err != nil {
				return err
			}
			out.Deleted = append(out.Deleted, string(t.id))
		}
		if d.json {
			continue
		}
		if err := d.report(t, out.CopiesDeleted[before:], kept); err != nil {
			return err
		}
	}
	residue, err := d.app.Erase(ctx)
	if err != nil {
		return err
	}
	if !d.json {
		if err := d.printResidue(residue); err != nil {
			return err
		}
		return d.reportUnknown()
	}
	out.Residue = residue
	return writeJSON(d.out, out)
}

// report says what was deleted of a session, and which copies are kept.
func (d *deletion) report(t target, deleted []string, kept app.Copies) error {
	id := draw.One(string(t.id), d.charset())
	line := fmt.Sprintf("The session %s is not in the store.", id)
	if t.session != nil {
		line = fmt.Sprintf("Deleted %s (%s).", id, draw.Count(t.session.Len(), "thought", "thoughts"))
	}
	if err := d.printf("%s", line); err != nil {
		return err
	}
	for _, place := range deleted {
		if err := d.printf("  Deleted %s.", draw.One(place, d.charset())); err != nil {
			return err
		}
	}
	if kept.Note != "" {
		err := d.printf("  The note %s is kept, and the next sync would restore the session from it.\n"+
			"  --with-note deletes both.", draw.One(string(kept.Note), d.charset()))
		if err != nil {
			return err
		}
	}
	if kept.File != "" {
		if err := d.printf("  The session file %s is kept.", draw.One(kept.File, d.charset())); err != nil {
			return err
		}
	}
	if kept != (app.Copies{}) {
		return d.printf("  To delete what is kept: sequent delete %s --everywhere", id)
	}
	return nil
}

// all deletes all sessions of the owner.
func (d *deletion) all(ctx context.Context, yes bool) error {
	whose := "your"
	if d.owner != "" {
		whose = draw.One(d.owner, d.charset()) + "'s"
	}
	if !yes {
		page, err := d.app.Engine.Sessions(ctx, sequent.Query{Limit: 1000})
		if err != nil {
			return err
		}
		n := draw.Count(len(page.Headers), "session", "sessions")
		if page.Next != "" {
			n = "more than " + n
		}
		if err := d.ask(ctx, fmt.Sprintf("all %s sessions (%s)", whose, n)); err != nil {
			return err
		}
	}
	var out removed
	for h, err := range d.app.Engine.AllSessions(ctx, sequent.Query{}) {
		if err != nil {
			return err
		}
		copies, err := d.app.Copies(ctx, d.key(h.ID))
		if err == nil {
			_, err = d.removeCopies(ctx, h.ID, copies, &out)
		}
		if err != nil {
			return err
		}
	}
	n, err := d.app.Engine.DeleteAll(ctx)
	if err != nil {
		return err
	}
	if out.Residue, err = d.app.Erase(ctx); err != nil {
		return err
	}
	if d.json {
		return writeJSON(d.out, struct {
			Sessions int `json:"sessions"`
			removed
		}{n, out})
	}
	if err := d.printf("Deleted all %s sessions (%d).", whose, n); err != nil {
		return err
	}
	if len(out.CopiesDeleted) > 0 {
		if err := d.printf("Deleted their notes and session files (%d).", len(out.CopiesDeleted)); err != nil {
			return err
		}
	}
	if err := d.printResidue(out.Residue); err != nil {
		return err
	}
	if err := d.reportKept(ctx, out); err != nil {
		return err
	}
	return d.reportUnknown()
}

// reportUnknown says what --everywhere does not delete.
func (d *deletion) reportUnknown() error {
	if !d.which.everywhere {
		return nil
	}
	return d.printf("Exports and backups may still have the text. sequent does not know where they are: delete them yourself.")
}

// reportKept says where the copies of all sessions are kept.
func (d *deletion) reportKept(ctx context.Context, out removed) error {
	if len(out.FilesLeft) > 0 {
		folder := filepath.Dir(filepath.Dir(out.FilesLeft[0]))
		err := d.printf("Their session files (%d) are kept. Delete them in %s.", len(out.FilesLeft), draw.One(folder, d.charset()))
		if err != nil {
			return err
		}
	}
	v, err := d.app.Vaults(false)
	if err != nil {
		return err
	}
	if folder, some := v.SessionNotes(ctx, d.owner); some {
		return d.printf("Their notes are kept, and the next sync would restore the sessions. To prevent it, delete the notes in %s.", draw.One(folder, d.charset()))
	}
	return nil
}

// confirm lists the sessions and the copies to delete, and asks for confirmation.
func (d *deletion) confirm(ctx context.Context) error {
	if err := d.requireTerminal(); err != nil {
		return err
	}
	for _, t := range d.targets {
		line := draw.Line{{Text: draw.One(string(t.id), d.charset()) + "  ", Role: draw.Number}}
		if s := t.session; s != nil {
			line = append(line,
				draw.Span{Text: draw.Count(s.Len(), "thought", "thoughts") + "  ", Role: draw.Meta},
				draw.Span{Text: draw.One(s.Title(), d.charset())})
		}
		lines := []draw.Line{draw.Cut(line, d.drawing())}
		selected, _ := d.which.selected(t.copies)
		for _, place := range []string{string(selected.Note), selected.File} {
			if place != "" {
				lines = append(lines, draw.Line{{Text: "  " + draw.One(place, d.charset()), Role: draw.Meta}})
			}
		}
		fmt.Fprint(d.err, d.render(lines))
	}
	what := "this session"
	if len(d.targets) > 1 {
		what = fmt.Sprintf("these %d sessions", len(d.targets))
	}
	return d.ask(ctx, what)
}
