package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/web"
)

// A following watches sessions of a server.
type following struct {
	*program
	server        *remote
	id            sequent.ID // empty means all sessions of the project
	project       string     // and those without one; empty means all
	untilComplete bool

	seen    map[sequent.ID]int      // thoughts that were written, or were there before
	begun   bool                    // seen has the sessions that were there before
	last    string                  // position after the last thought
	noted   int                     // notes that were written
	named   map[int]sequent.Thought // thoughts of the session that were written, without their texts
	failing bool                    // the failure of the connection was reported
}

// errEnough ends a stream because what was waited for has happened.
var errEnough = errors.New("enough was seen")

// Waits before connecting again.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 10 * time.Second
)

// watchServer follows sessions of a server, through restarts of it.
func (p *program) watchServer(ctx context.Context, address, id string, untilComplete bool) error {
	r, err := newRemote(address, p.getenv("SEQUENT_TOKEN"))
	if err != nil {
		return err
	}
	f := &following{program: p, server: r, untilComplete: untilComplete, seen: make(map[sequent.ID]int), named: make(map[int]sequent.Thought)}
	if f.project, err = p.inProject(); err != nil {
		return err
	}
	query := url.Values{}
	if id != "" {
		if f.id, err = f.find(ctx, id); err != nil {
			return err
		}
		query.Set("id", string(f.id))
	}
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := r.events(ctx, query, f.last, func(event, id string, data []byte) error {
			wait, f.failing = firstWait, false
			return f.event(ctx, event, id, data)
		})
		if refused, ok := errors.AsType[*remoteError](err); ok && refused.status < 500 && refused.status != http.StatusTooManyRequests {
			return f.explain(refused)
		}
		if _, ok := errors.AsType[*sequent.Error](err); ok {
			return err
		}
		if errors.Is(err, errEnough) || ctx.Err() != nil {
			return nil // a signal is the normal end
		}
		if !f.failing && wait > firstWait {
			f.failing = true
			fmt.Fprintf(p.err, "The connection to %s is lost: %v. Reconnecting.\n", r.base.Host, err)
		}
		t := time.NewTimer(wait*3/4 + rand.N(wait/2))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
	}
}

// explain returns a refusal of the server as an error of the command.
func (f *following) explain(r *remoteError) error {
	fix := r.Fix
	if r.status == http.StatusUnauthorized {
		fix = "set SEQUENT_TOKEN to a token of the server, or pass the URL that sequent view prints"
	}
	return &usageError{msg: r.Error(), fix: fix}
}

// find returns the id that an argument means: itself, or the only one that begins with it
// among the sessions that were changed last.
func (f *following) find(ctx context.Context, arg string) (sequent.ID, error) {
	var page struct {
		Sessions []web.Session `json:"sessions"`
	}
	if err := f.server.get(ctx, "sessions", nil, &page); err != nil {
		if refused, ok := errors.AsType[*remoteError](err); ok {
			return "", f.explain(refused)
		}
		return "", &sequent.Error{Code: sequent.CodeUnavailable, Msg: "the server cannot be reached: " + err.Error(), Fix: "check the URL"}
	}
	var ids []string
	for _, s := range page.Sessions {
		if s.ID == arg {
			return sequent.ID(arg), nil
		}
		if strings.HasPrefix(s.ID, arg) {
			ids = append(ids, s.ID)
		}
	}
	if len(ids) == 1 {
		return sequent.ID(ids[0]), nil
	}
	return sequent.ID(arg), nil // the server reports an unknown id
}

// event takes an event of the stream.
func (f *following) event(ctx context.Context, name, id string, data []byte) error {
	switch name {
	case "sessions":
		var list struct {
			Changed []web.Session `json:"changed"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		return f.changed(ctx, list.Changed)
	case "thoughts":
		var rows []web.Row
		if err := json.Unmarshal(data, &rows); err != nil {
			return err
		}
		if err := f.write(ctx, f.id, rows); err != nil {
			return err
		}
		f.last = id
	case "session":
		var s web.Session
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		if s.Thoughts > f.seen[f.id] {
			return nil // its thoughts follow, and then it is asked for again
		}
		return f.state(ctx)
	case "deleted", "replaced":
		return &sequent.Error{Code: sequent.CodeSessionNotFound, Field: fieldID, Msg: fmt.Sprintf("session %q was deleted", f.id)}
	}
	return nil
}

// state writes the notes of the session that are new, and ends if it is complete.
func (f *following) state(ctx context.Context) error {
	var state web.State
	if err := f.server.get(ctx, "session", url.Values{"id": {string(f.id)}}, &state); err != nil {
		return err
	}
	for _, n := range state.Notes[min(f.noted, len(state.Notes)):] {
		if err := f.noteLine(f.id, f.named[n.Seq], sequent.Note{Seq: n.Seq, Kind: sequent.NoteKind(n.Kind), Text: n.Text, From: n.From, At: n.At}, true); err != nil {
			return err
		}
	}
	f.noted = len(state.Notes)
	if f.untilComplete && state.Session.State != string(sequent.Active) && state.Session.Thoughts <= f.seen[f.id] {
		return errEnough
	}
	return nil
}

// changed writes what is new in sessions of the list.
func (f *following) changed(ctx context.Context, sessions []web.Session) error {
	complete := false
	for _, s := range sessions {
		id := sequent.ID(s.ID)
		if !f.begun {
			f.seen[id] = s.Thoughts
			continue
		}
		if f.project != "" && s.Context.Project != "" && s.Context.Project != f.project {
			continue
		}
		if s.Thoughts < f.seen[id] {
			f.seen[id] = 0 // it was begun again
		}
		epoch, _, _ := strings.Cut(s.Position, ".")
		for f.seen[id] < s.Thoughts {
			var page struct {
				Rows []web.Row `json:"rows"`
			}
			err := f.server.get(ctx, "outline", url.Values{"id": {s.ID}, "after": {epoch + "." + strconv.Itoa(f.seen[id])}}, &page)
			if err != nil {
				return err
			}
			if len(page.Rows) == 0 {
				break // deleted just now
			}
			if err := f.write(ctx, id, page.Rows); err != nil {
				return err
			}
			complete = complete || page.Rows[len(page.Rows)-1].Last
		}
	}
	f.begun = true
	if complete && f.untilComplete {
		return errEnough
	}
	return nil
}

// write writes thoughts, whose texts it reads.
func (f *following) write(ctx context.Context, id sequent.ID, rows []web.Row) error {
	for len(rows) > 0 {
		var page struct {
			Thoughts []web.Text `json:"thoughts"`
		}
		err := f.server.get(ctx, "thoughts", url.Values{
			"id": {string(id)}, "from": {strconv.Itoa(rows[0].Seq)}, "to": {strconv.Itoa(rows[len(rows)-1].Seq)},
		}, &page)
		if err != nil {
			return err
		}
		if len(page.Thoughts) == 0 || len(page.Thoughts) > len(rows) {
			return fmt.Errorf("the server returned %d texts for %d thoughts", len(page.Thoughts), len(rows))
		}
		for i, text := range page.Thoughts {
			t, err := thoughtIn(rows[i], text)
			if err != nil {
				return err
			}
			if t.Seq <= f.seen[id] {
				continue
			}
			if err := f.line(id, t, f.id != ""); err != nil {
				return err
			}
			f.seen[id] = t.Seq
			if f.id != "" {
				f.named[t.Seq] = sequent.Thought{Seq: t.Seq, Draft: sequent.Draft{Number: t.Number, Branch: t.Branch}}
			}
		}
		rows = rows[len(page.Thoughts):]
	}
	if f.id == "" {
		return nil
	}
	return f.state(ctx)
}

// thoughtIn returns a thought of the API.
func thoughtIn(r web.Row, text web.Text) (sequent.Thought, error) {
	at, err := time.Parse(time.RFC3339Nano, text.At)
	if err != nil || r.Seq != text.Seq {
		return sequent.Thought{}, fmt.Errorf("the server's reply about thought %d cannot be read", r.Seq)
	}
	ref := func(n *int) (ref sequent.Ref) {
		if n != nil {
			ref = sequent.To(*n)
		}
		return ref
	}
	return sequent.Thought{Seq: r.Seq, After: r.After, Supersedes: r.Supersedes, At: at, Draft: sequent.Draft{
		Number: r.Number, Total: text.Total, Text: text.Text, Note: text.Note, Branch: r.Branch,
		Revises: ref(text.Revises), From: ref(text.From), Revision: r.Revision, More: !r.Last,
	}}, nil
}
