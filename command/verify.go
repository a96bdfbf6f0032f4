package command

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A verifying is one run of sequent store verify.
type verifying struct {
	*program
	head *sequent.Hash // that was noted elsewhere; nil for none
}

func runVerify(p *program, ctx context.Context) (result, error) {
	v := &verifying{program: p}
	if p.head != "" {
		v.head = new(sequent.Hash)
		if err := v.head.UnmarshalText([]byte(p.head)); err != nil {
			return nil, invalid("--head", p.head, "the 64 hexadecimal digits that sequent store verify prints")
		}
	}
	isFile := len(p.args) == 1 && isFile(p.args[0])
	switch {
	case p.all && (len(p.args) > 0 || v.head != nil):
		return nil, misuse(p.cmd, "--all takes no ID, and no --head: that is the head of one session")
	case p.key != "" && !isFile:
		return nil, misuse(p.cmd, "--key requires a file: an export or a backup that was signed")
	case isFile:
		return v.file(ctx, p.args[0])
	}
	p.allVisible = p.all && !p.cmd.Flags().Changed("owner")
	p.allOwners = p.allVisible
	var found result
	err := p.with(ctx, storeOrServer, func() (err error) {
		if p.all {
			found, err = v.each(ctx)
			return err
		}
		s, e, err := p.session(ctx, p.args)
		if err != nil {
			return err
		}
		h, entries, err := e.Entries(ctx, s.ID(), sequent.Position{})
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

// file verifies the signature of a file, if there is a key, and an export.
func (v *verifying) file(ctx context.Context, name string) (result, error) {
	if v.key != "" {
		if err := v.signed(name); err != nil {
			return nil, err
		}
	}
	data, kind, err := readExport(name)
	switch {
	case err != nil:
		return nil, err
	case kind != archive.KindExport && v.head != nil:
		return nil, &usageError{msg: "--head is the head of one session, and " + name + " is no export of one", fix: "verify an export in JSON, or name an ID"}
	case kind != archive.KindExport && v.key != "":
		return nil, nil // the signature is all that proves it
	case kind == kindStore:
		return nil, &usageError{msg: name + " is a store, not an export", fix: "verify the sessions of a copy of it: sequent store verify --all --store COPY"}
	case kind != archive.KindExport && kind != "": // of another program
		return &verification{Session: name}, exit(exitUnproven)
	}
	h, entries, err := archive.ReadJSON(bytes.NewReader(data))
	if err != nil {
		return nil, sequent.Errorf(sequent.CodeInvalidSession, "", "name a file that sequent export --format json wrote, or the ID of a session",
			"%s is not an export: %s", name, err.Error())
	}
	return v.one(h, entries)
}

// kindStore is the kind of a file that is a store.
const kindStore archive.Kind = "store"

// readExport reads a file that may be an export, and says what it is; empty is unknown. The data of a store is not
// returned.
func readExport(name string) ([]byte, archive.Kind, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close() //nolint:errcheck // it only reads
	begin := []byte("SQLite format 3\x00")
	data := make([]byte, len(begin))
	if n, _ := io.ReadFull(f, data); bytes.Equal(data, begin) {
		return nil, kindStore, nil
	} else if rest, err := io.ReadAll(f); err != nil {
		return nil, "", err
	} else {
		data = append(data[:n], rest...)
	}
	return data, archive.KindOf(data), nil
}

// signed checks the signature of a file.
func (v *verifying) signed(file string) error {
	key, err := app.ReadPublicKey(v.key)
	if err != nil {
		return &usageError{msg: "--key: " + err.Error(), fix: "use the public key: openssl pkey -in key.pem -pubout -out public.pem"}
	}
	if err := app.VerifyFile(file, key); err != nil {
		return &sequent.Error{Code: sequent.CodeInvalidSession, Field: "signature", Msg: err.Error(), Fix: "get the file and its signature again from the signer"}
	}
	if v.json {
		v.emit(map[string]any{"signature": map[string]any{"valid": true, "file": file}})
	} else {
		v.put(draw.Line{{Text: printable.Line(file), Role: draw.Number}, {Text: "  signed with this key", Role: draw.Meta}})
	}
	return nil
}

// signer returns the key of --sign, or nil without one. File is the file to sign.
func (p *program) signer(file string) (ed25519.PrivateKey, error) {
	toFile := file != "" && file != "-"
	switch {
	case p.sign == "" || !toFile && !p.given("sign"): // SEQUENT_SIGN is for files
		return nil, nil
	case !toFile:
		return nil, &usageError{msg: "--sign requires --output: the signature is a file beside it", fix: "name a file with --output"}
	}
	key, err := app.ReadPrivateKey(p.sign)
	if err != nil {
		return nil, &usageError{msg: "--sign: " + err.Error(), fix: "use a private key that only you can read: openssl genpkey -algorithm ed25519 -out key.pem"}
	}
	return key, nil
}

// A verified counts what --all has verified.
type verified struct {
	Summary struct {
		Sessions int `json:"sessions"`
		Intact   int `json:"intact"`
		Faulty   int `json:"faulty"`
	} `json:"summary"`
}

// each verifies every session that the engine lists, and prints those that are not intact.
func (v *verifying) each(ctx context.Context) (result, error) {
	done, m := new(verified), v.newMeter()
	sum := &done.Summary
	defer m.clear()
	for listed, err := range v.engine.AllSessions(ctx, sequent.Query{AllOwners: v.allOwners}) {
		if err != nil {
			return nil, err
		}
		h, entries, err := v.engine.Owned(listed.Owner).Entries(ctx, listed.ID, sequent.Position{})
		if errors.Is(err, sequent.ErrNotFound) {
			continue // deleted just now
		}
		if err != nil {
			return nil, err
		}
		sum.Sessions++
		m.show("%s verified", printable.Count(sum.Sessions, "session", "sessions"))
		found := v.examine(h, entries)
		if found.Intact {
			sum.Intact++
		} else {
			sum.Faulty++
		}
		if v.json || !found.Intact {
			m.clear()
			v.printResult(found)
		}
	}
	if sum.Faulty > 0 {
		return done, exit(exitFailure)
	}
	return done, nil
}

// unseenText says what hashes do not show.
const unseenText = "Not visible here: a session or file that was put back to an earlier state, written anew or deleted. A head noted elsewhere shows it: --head."

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
	*sequent.Fault
	Message string `json:"message"`
}

// A jsonNoted says whether a head that was noted elsewhere is on the log, after how
// many thoughts.
type jsonNoted struct {
	Head     string `json:"head"`
	Found    bool   `json:"found"`
	Thoughts int    `json:"thoughts,omitempty"`
}

// one verifies one session.
func (v *verifying) one(h sequent.Header, entries []sequent.Entry) (result, error) {
	found := v.examine(h, entries)
	switch {
	case !found.Proven:
		return found, exit(exitUnproven)
	case !found.Intact || found.Noted != nil && !found.Noted.Found:
		return found, exit(exitFailure)
	}
	return found, nil
}

// examine verifies a log.
func (v *verifying) examine(h sequent.Header, entries []sequent.Entry) *verification {
	found := sequent.Verify(h, entries)
	hasHash := slices.ContainsFunc(entries, func(e sequent.Entry) bool { return e.Proven() })
	out := &verification{
		Session: string(h.ID), Owner: h.Owner, Intact: found.Fault == nil, Thoughts: h.Len, Entries: found.Entries, Masked: len(found.Masked),
		Proven: hasHash || h.Epoch != 0 || h.Entries != 0 || h.Seal != sequent.Hash{}, // as all in stores are
	}
	if found.Entries > 0 {
		out.Head = found.Head.String()
	}
	if f := found.Fault; f != nil {
		out.Fault = &jsonFault{f, f.String()}
	}
	if v.head == nil {
		return out
	}
	out.Noted = &jsonNoted{Head: v.head.String()}
	at := slices.IndexFunc(entries, func(e sequent.Entry) bool { return e.Proven() && e.Place <= found.Entries && e.Hash == *v.head })
	if at >= 0 {
		out.Noted.Found, out.Noted.Thoughts = true, len(sequent.Thoughts(entries[:at+1]))
	}
	return out
}

func (found *verification) text(pg *page) {
	name := printable.Line(found.Session)
	if found.Owner != "" {
		name += " of " + printable.Line(found.Owner)
	}
	verdict := draw.Span{Role: draw.Tag}
	switch {
	case !found.Proven:
		verdict.Text = "nothing proves it: the file has no hashes"
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
