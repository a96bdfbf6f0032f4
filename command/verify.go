package command

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

func runVerify(p *program, ctx context.Context) (result, error) {
	v := &verifying{program: p, meter: p.newMeter()}
	if p.head != "" {
		v.noted = new(sequent.Hash)
		if err := v.noted.UnmarshalText([]byte(p.head)); err != nil {
			return nil, invalid("head", p.head, "the 64 hexadecimal digits that sequent store verify prints")
		}
	}
	isFile := len(p.args) == 1 && isFile(p.args[0])
	switch {
	case p.all && len(p.args) > 0:
		return nil, misuse(p.cmd, "--all takes no ID")
	case p.all && p.head != "":
		return nil, misuse(p.cmd, "--head is the head of one session: name its ID instead of --all")
	case p.key != "" && !isFile:
		return nil, misuse(p.cmd, "--key requires a file: an export or a backup that was signed")
	case isFile:
		return v.file(ctx, p.args[0])
	}
	p.allVisible = p.all && !p.cmd.Flags().Changed("owner")
	p.allOwners = p.allVisible
	var found result
	err := p.withStore(ctx, func(a *app.App) (err error) {
		if p.all {
			found, err = v.all(ctx, a.Engine)
			return err
		}
		at, err := p.refer(ctx, a.Engine, p.args)
		if err == nil {
			err = at.whole("this command")
		}
		if err != nil {
			return err
		}
		h, entries, err := at.engine.Entries(ctx, at.session.ID(), sequent.Position{})
		if err == nil {
			found, err = v.one(h, entries)
		}
		return err
	})
	return found, err
}

// isFile reports whether a name is that of a regular file.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// unseenText says what hashes do not show.
const unseenText = "Not visible here: a session or file that was put back to an earlier state, written anew or deleted. A head noted elsewhere shows it: --head."

// unprovenText is the verdict on a file without hashes.
const unprovenText = "nothing proves it: the file has no hashes"

// A verifying is one run of sequent store verify.
type verifying struct {
	*program
	meter *meter
	noted *sequent.Hash // nil for none
}

// A verified counts what --all has verified.
type verified struct {
	Summary struct {
		Sessions int `json:"sessions"`
		Intact   int `json:"intact"`
		Faulty   int `json:"faulty"`
	} `json:"summary"`
}

// all verifies every session that the engine lists, and prints those that are not intact.
func (v *verifying) all(ctx context.Context, e *sequent.Engine) (result, error) {
	done := new(verified)
	sum := &done.Summary
	defer v.meter.clear()
	for listed, err := range e.AllSessions(ctx, sequent.Query{AllOwners: v.allOwners}) {
		if err != nil {
			return nil, err
		}
		h, entries, err := e.Owned(listed.Owner).Entries(ctx, listed.ID, sequent.Position{})
		if errors.Is(err, sequent.ErrNotFound) {
			continue // deleted just now
		}
		if err != nil {
			return nil, err
		}
		sum.Sessions++
		v.meter.show(printable.Count(sum.Sessions, "session", "sessions") + " verified")
		found := v.examine(h, entries)
		if found.Intact {
			sum.Intact++
		} else {
			sum.Faulty++
		}
		if v.json || !found.Intact {
			v.meter.clear()
			v.printResult(found)
		}
	}
	if sum.Faulty > 0 {
		return done, errReported
	}
	return done, nil
}

func (v *verified) text(pg *page) {
	sum, n := v.Summary, printable.Count(v.Summary.Sessions, "session", "sessions")
	if sum.Faulty > 0 {
		pg.say("%s verified, %d intact, %d not.", n, sum.Intact, sum.Faulty)
		return
	}
	pg.say("%s verified, all intact.", n)
	if sum.Sessions > 0 {
		pg.beside("", unseenText, draw.Meta)
	}
}

// one verifies one session.
func (v *verifying) one(h sequent.Header, entries []sequent.Entry) (result, error) {
	found := v.examine(h, entries)
	switch {
	case !found.Proven:
		return found, errUnproven
	case !found.Intact || found.Noted != nil && !found.Noted.Found:
		return found, errReported
	}
	return found, nil
}

// A verification is the result of verifying a session.
type verification struct {
	Session  string     `json:"session"`
	Owner    string     `json:"owner,omitempty"`
	Intact   bool       `json:"intact"`
	Proven   bool       `json:"proven"` // false if there are no hashes at all
	Thoughts int        `json:"thoughts"`
	Entries  int        `json:"entries"`
	Head     string     `json:"head,omitempty"`
	Masked   int        `json:"masked,omitempty"`
	Fault    *jsonFault `json:"fault,omitempty"`
	Noted    *jsonNoted `json:"noted,omitempty"`
}

// A jsonFault is a [sequent.Fault] in JSON output.
type jsonFault struct {
	Kind    string `json:"kind"`
	Place   int    `json:"place,omitempty"`
	Thought int    `json:"thought,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// A jsonNoted says whether a head that was noted elsewhere is on the log, after how
// many thoughts.
type jsonNoted struct {
	Head     string `json:"head"`
	Found    bool   `json:"found"`
	Thoughts int    `json:"thoughts,omitempty"`
}

// examine verifies a log.
func (v *verifying) examine(h sequent.Header, entries []sequent.Entry) *verification {
	found := sequent.Verify(h, entries)
	out := &verification{
		Session: string(h.ID), Owner: h.Owner, Intact: found.Fault == nil, Proven: !unproven(&h, entries),
		Thoughts: h.Len, Entries: found.Entries, Masked: len(found.Masked),
	}
	if found.Entries > 0 {
		out.Head = found.Head.String()
	}
	if f := found.Fault; f != nil {
		out.Fault = &jsonFault{Kind: string(f.Kind), Place: f.Place, Thought: f.Seq, Field: f.Field, Message: f.String()}
	}
	if v.noted != nil {
		out.Noted = &jsonNoted{Head: v.noted.String()}
		thoughts := 0
		for i := range entries {
			e := &entries[i]
			if e.Kind == sequent.KindThought {
				thoughts = e.Thought.Seq
			}
			if e.Proven() && e.Place <= found.Entries && e.Hash == *v.noted {
				out.Noted.Found, out.Noted.Thoughts = true, thoughts
				break
			}
		}
	}
	return out
}

// unproven reports whether a session has no hashes at all, which stores do not have.
func unproven(h *sequent.Header, entries []sequent.Entry) bool {
	return h.Epoch == 0 && h.Seal == sequent.Hash{} && h.Entries == 0 &&
		!slices.ContainsFunc(entries, func(e sequent.Entry) bool { return e.Proven() })
}

func (found *verification) text(pg *page) {
	name := pg.one(found.Session)
	if found.Owner != "" {
		name += " of " + pg.one(found.Owner)
	}
	verdict := draw.Span{Role: draw.Tag}
	switch {
	case !found.Proven:
		verdict.Text = unprovenText
	case found.Intact:
		verdict = draw.Span{Text: "intact · " + printable.Count(found.Thoughts, "thought", "thoughts"), Role: draw.Meta}
	default:
		verdict.Text = "not intact: " + found.Fault.Message
	}
	pg.add(draw.Line{{Text: name + "  ", Role: draw.Number}, verdict})
	if found.Masked > 0 {
		pg.beside("  ", "Texts are masked in "+printable.Count(found.Masked, "entry", "entries")+"; what these show in their place is not proven.", draw.Text)
	}
	proven := found.Intact && found.Head != ""
	if proven {
		pg.beside("  ", "head "+found.Head, draw.Text)
	}
	switch n := found.Noted; {
	case n == nil && proven:
		pg.beside("  ", unseenText, draw.Meta)
	case n == nil:
	case !n.Found:
		pg.beside("  ", "That head is not on this log: this is not the history in which it was noted.", draw.Tag)
	case n.Head == found.Head && found.Intact:
		pg.beside("  ", "The log is the state with that head.", draw.Text)
	case found.Intact:
		pg.beside("  ", "The log continues the state with that head, which had "+printable.Count(n.Thoughts, "thought", "thoughts")+".", draw.Text)
	}
}
