package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
)

func (p *program) verify() *cobra.Command {
	var all bool
	var head, key string
	c := &cobra.Command{
		Use:   "verify [ID | FILE]",
		Short: "Check that a session is what was recorded",
		Long: `Check the log of a session against its hashes: that no thought was altered, removed or moved since it was
recorded. The ID can be shortened to its first characters. Without an ID the latest session of the project is
checked, and with --all every session of the store, or of one --owner. The exit code is 1 if a log is not intact.

FILE is an export in JSON or a backup; an argument that names a file is read as one, and no store is
needed. With --key, the signature FILE.sig, which --sign has written, must be of that key and of FILE.

A program that can write to the store can compute all hashes anew. So note the head that the command prints
elsewhere, and compare it later with --head: it must be on the log. docs/proof.md says what each proves.

--json prints {"session", "owner", "intact", "thoughts", "entries", "head", "from", "masked",
"fault": {kind, place, thought, field, message}, "noted": {head, found, thoughts}}: from is the first
thought with a hash, and masked counts entries with texts that are not proven. With --all it prints one
object per line; the last line is {"summary": {"sessions", "intact", "faulty"}}. With --key the first line
is {"signature": {"valid", "file", "session", "owner", "head", "time", "key"}}.`,
		Example: "# the latest session\nsequent verify\n\n# every session of a store\nsequent verify --all --store sessions.db\n\n" +
			"# is the session that ended with this head still in this log?\n" +
			"sequent verify 7k3 --head 22bd5504a4f39b03a5e1476fabcfa5c1406691b63649a9c72d65c80c487e4684\n\n# an export, and one that was signed\nsequent verify session.json\nsequent verify session.json --key public.pem",
		Args:              arguments(0, 1, "at most one ID or file"),
		ValidArgsFunction: p.completeIDs,
		RunE: func(c *cobra.Command, args []string) error {
			v := &verifying{program: p, meter: p.newMeter()}
			if head != "" {
				v.noted = new(sequent.Hash)
				if err := v.noted.UnmarshalText([]byte(head)); err != nil {
					return invalid("head", head, "the 64 hexadecimal digits that sequent verify prints")
				}
			}
			switch {
			case all && len(args) > 0:
				return misuse(c, "--all takes no ID")
			case all && head != "":
				return misuse(c, "--head is the head of one session: name its ID instead of --all")
			case key != "" && (len(args) == 0 || !isFile(args[0])):
				return misuse(c, "--key requires a file: an export or a backup that was signed")
			case len(args) == 1 && isFile(args[0]):
				return v.file(c.Context(), args[0], key)
			}
			p.allVisible = all && !c.Flags().Changed("owner")
			p.allOwners = p.allVisible
			return p.withStore(c.Context(), func(a *app.App) error {
				if err := p.checkOwner(c.Context(), a); err != nil {
					return err
				}
				if all {
					return v.all(c.Context(), a.Engine, p.allOwners)
				}
				h, entries, err := v.wanted(c.Context(), a.Engine, args)
				if err != nil {
					return err
				}
				return v.report(h, entries)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "check every session")
	c.Flags().StringVar(&key, "key", "", "public Ed25519 key in PEM that must have signed FILE")
	c.Flags().StringVar(&head, "head", "", "head that was noted elsewhere, to be found on the log")
	p.addJSONFlag(c)
	p.addProjectFlags(c)
	p.addOwnerFlag(c)
	c.Flags().Lookup("owner").Usage = "owner of the sessions: a token's subject (default: you; with --all, all owners that you may see)"
	p.addServerFlag(c)
	p.addWidthFlag(c)
	return c
}

// isFile reports whether a name is that of a regular file.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// A verifying is one run of sequent verify.
type verifying struct {
	*program
	meter *meter
	noted *sequent.Hash // nil for none
}

// wanted returns the log of the session that the arguments name, or of the latest of the
// project. A log that lacks entries is not an error.
func (v *verifying) wanted(ctx context.Context, e *sequent.Engine, args []string) (sequent.Header, []sequent.Entry, error) {
	if len(args) == 0 {
		project, err := v.inProject()
		if err != nil {
			return sequent.Header{}, nil, err
		}
		k, err := latestKey(ctx, e, sequent.Query{Project: project})
		if err != nil {
			return sequent.Header{}, nil, err
		}
		return stored(ctx, e, k.ID)
	}
	h, entries, err := stored(ctx, e, sequent.ID(args[0]))
	if sequent.CodeOf(err) != sequent.CodeSessionNotFound {
		return h, entries, err
	}
	id, err := idWithPrefix(ctx, e, args[0])
	if err != nil {
		return sequent.Header{}, nil, err
	}
	return stored(ctx, e, id)
}

// stored returns the log of a session, also if it lacks entries.
func stored(ctx context.Context, e *sequent.Engine, id sequent.ID) (sequent.Header, []sequent.Entry, error) {
	h, entries, err := e.Entries(ctx, id)
	if err != nil && h.Version > 0 && sequent.CodeOf(err) == sequent.CodeCorrupt {
		err = nil
	}
	return h, entries, err
}

// all verifies every session that the engine lists.
func (v *verifying) all(ctx context.Context, e *sequent.Engine, allOwners bool) error {
	var sum struct {
		Sessions int `json:"sessions"`
		Intact   int `json:"intact"`
		Faulty   int `json:"faulty"`
	}
	defer v.meter.clear()
	for listed, err := range e.AllSessions(ctx, sequent.Query{AllOwners: allOwners}) {
		if err != nil {
			return err
		}
		h, entries, err := stored(ctx, e.Owned(listed.Owner), listed.ID)
		if errors.Is(err, sequent.ErrNotFound) {
			continue // deleted just now
		}
		if err != nil {
			return err
		}
		sum.Sessions++
		v.meter.show(draw.Count(sum.Sessions, "session", "sessions") + " verified")
		found := v.examine(h, entries)
		if found.Intact {
			sum.Intact++
		} else {
			sum.Faulty++
		}
		switch {
		case v.json:
			err = writeJSON(v.out, found)
		case !found.Intact:
			v.meter.clear()
			err = v.print(v.verdict(found)...)
		}
		if err != nil {
			return err
		}
	}
	v.meter.clear()
	var err error
	switch {
	case v.json:
		err = writeJSON(v.out, struct {
			Summary any `json:"summary"`
		}{sum})
	case sum.Faulty == 0:
		err = v.printf("%s verified, all intact.", draw.Count(sum.Sessions, "session", "sessions"))
	default:
		err = v.printf("%s verified, %d intact, %d not.", draw.Count(sum.Sessions, "session", "sessions"), sum.Intact, sum.Faulty)
	}
	if err == nil && sum.Faulty > 0 {
		err = errReported
	}
	return err
}

// report verifies one session and prints what it found.
func (v *verifying) report(h sequent.Header, entries []sequent.Entry) error {
	found := v.examine(h, entries)
	var err error
	if v.json {
		err = writeJSON(v.out, found)
	} else {
		err = v.print(v.verdict(found)...)
	}
	if err == nil && !found.ok() {
		err = errReported
	}
	return err
}

// A jsonVerification is the result of verifying a session in JSON output.
type jsonVerification struct {
	Session  string     `json:"session"`
	Owner    string     `json:"owner,omitempty"`
	Intact   bool       `json:"intact"`
	Thoughts int        `json:"thoughts"`
	Entries  int        `json:"entries"`
	Head     string     `json:"head,omitempty"`
	From     int        `json:"from,omitempty"`
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

// ok reports whether the log is intact and has the noted head.
func (f *jsonVerification) ok() bool { return f.Intact && (f.Noted == nil || f.Noted.Found) }

// examine verifies a log.
func (v *verifying) examine(h sequent.Header, entries []sequent.Entry) *jsonVerification {
	found := sequent.Verify(h, entries)
	out := &jsonVerification{
		Session: string(h.ID), Owner: h.Owner, Intact: found.Fault == nil,
		Thoughts: h.Len, Entries: found.Entries, From: found.From, Masked: len(found.Masked),
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

// verdict returns the result in words.
func (v *verifying) verdict(found *jsonVerification) []draw.Line {
	o := v.drawing()
	name := draw.One(found.Session, o.Charset)
	if found.Owner != "" {
		name += " of " + draw.One(found.Owner, o.Charset)
	}
	line := draw.Line{{Text: name, Role: draw.Number}}
	var lines []draw.Line
	add := func(text string, role draw.Role) {
		lines = append(lines, draw.Beside(draw.Line{{Text: "  "}}, text, role, o)...)
	}
	if found.Intact {
		line = append(line, draw.Span{Text: fmt.Sprintf("  intact · %s", draw.Count(found.Thoughts, "thought", "thoughts")), Role: draw.Meta})
	} else {
		line = append(line, draw.Span{Text: "  not intact: " + found.Fault.Message, Role: draw.Tag})
	}
	lines = append(lines, line)
	switch {
	case !found.Intact, found.Thoughts == 0:
	case found.From == 0:
		add("Nothing proves the thoughts: they were recorded before sequent kept hashes.", draw.Text)
	case found.From > 1:
		add(fmt.Sprintf("Proof begins at thought %d; earlier ones were recorded before sequent kept hashes.", found.From), draw.Text)
	}
	if found.Masked > 0 {
		add(fmt.Sprintf("Texts are masked in %s; what these show in their place is not proven.", draw.Count(found.Masked, "entry", "entries")), draw.Text)
	}
	if found.Intact && found.Head != "" {
		add("head "+found.Head, draw.Text)
	}
	switch n := found.Noted; {
	case n == nil && found.Intact && found.Head != "":
		add("No program has changed it without computing its hashes anew. To detect that too, note the head elsewhere and compare it with --head.", draw.Meta)
	case n == nil:
	case !n.Found:
		add("That head is not on this log: this is not the history in which it was noted.", draw.Tag)
	case n.Head == found.Head && found.Intact:
		add("The log is the state with that head.", draw.Text)
	case found.Intact:
		add(fmt.Sprintf("The log continues the state with that head, which had %s.", draw.Count(n.Thoughts, "thought", "thoughts")), draw.Text)
	}
	return lines
}
