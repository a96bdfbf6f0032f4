// Package redact removes texts from a copy of a session, so that its chain of hashes
// still verifies.
//
// Every text that a pattern matches anywhere in the session is removed everywhere in
// it: also where the pattern needs a context that is missing there.
package redact

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
)

// Mask is what stands in the place of a removed text.
const Mask = "[redacted]"

// A Finder reports the texts to remove that it finds in a text, each with the name of the
// rule that found it. It stops when ctx ends.
type Finder func(ctx context.Context, text string, found func(secret, name string))

// A Finding counts the masks in a field of the copy.
type Finding struct {
	Thought int    `json:"thought,omitempty"` // 0 for the header and for other entries
	Field   string `json:"field"`
	Pattern string `json:"pattern"`
	Count   int    `json:"count"`
}

// Session returns a copy of a session without the texts that finders find. Entries from
// which a text was removed are masked; see [sequent.Entry.Mask]. The copy has a seal of its own,
// unless the session's was wrong. Names of labels are part of the proof, so it is an error if
// one has such a text. Time and memory are linear in the session.
func Session(ctx context.Context, h sequent.Header, entries []sequent.Entry, finders ...Finder) (sequent.Header, []sequent.Entry, []Finding, error) {
	r := &redaction{
		masks: make(map[[2]string]string), counted: make(map[Finding]int), titles: make(map[string]string),
	}
	r.pass(ctx, h, entries, func(_, text string) string {
		for _, find := range finders {
			find(ctx, text, r.add)
		}
		return text
	})
	r.secrets.link()
	r.shorten(h, entries)
	masked, out := r.pass(ctx, h, entries, r.text)
	if h.Seal == h.Digest() {
		masked.Seal = masked.Digest()
	}
	return masked, out, r.findings, r.err
}

// pass visits the texts of a session, and returns it with what replaces them.
func (r *redaction) pass(ctx context.Context, h sequent.Header, entries []sequent.Entry, do visit) (sequent.Header, []sequent.Entry) {
	h.Request = sequent.Request{}
	out := make([]sequent.Entry, len(entries))
	for i := range entries {
		if err := ctx.Err(); err != nil {
			r.err = &sequent.Error{Code: sequent.CodeCanceled, Msg: "masking was cancelled", Err: err}
		}
		if r.err != nil {
			return h, nil
		}
		if out[i] = r.entry(entries[i], do); out[i].Thought.Seq == 1 {
			h.Request = out[i].Thought.Request
		}
	}
	r.thought = 0
	r.header(&h, do)
	return h, out
}

func (r *redaction) add(secret, name string) {
	added, err := r.secrets.add(secret, name)
	if added && err == nil {
		_, err = r.secrets.add(inJSON(secret), name)
	}
	r.err = cmp.Or(r.err, err)
}

type redaction struct {
	secrets dictionary
	masks   map[[2]string]string // of names, such as labels of branches, by field and name
	titles  map[string]string    // shortened beginnings of texts from which something was removed: what replaces them

	findings []Finding
	counted  map[Finding]int // places in findings, by finding without count
	thought  int             // that is being redacted
	changed  bool
	err      error
}

// A visit is called with each text, and returns what replaces it.
type visit func(field, text string) string

// inJSON returns a text as it is in JSON, which labels can hold.
func inJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return ""
	}
	return strings.Trim(strings.TrimSuffix(b.String(), "\n"), `"`)
}

// text returns the text of a field without secrets, and counts the masks in it.
func (r *redaction) text(field, text string) string {
	spans := r.secrets.find(text)
	out := mask(text, spans)
	if whole, ok := r.titles[text]; ok && field == "title" && whole != out {
		out, spans = whole, nil
		r.found(field, "beginning of a masked text", max(1, strings.Count(whole, Mask)))
	}
	for _, s := range spans {
		r.found(field, s.name, 1)
	}
	if out == text {
		return text
	}
	r.changed = true
	switch field {
	case "branch", "request.key", "id": // names: two of them stay two
		name := [2]string{field, text}
		if r.masks[name] == "" {
			if n := len(r.masks); n > 0 {
				out = fmt.Sprintf("%s %d", out, n+1)
			}
			r.masks[name] = out
		}
		return r.masks[name]
	}
	return out
}

// shorten finds out what replaces titles that are shortened beginnings of texts: the cut
// can leave a part of a secret that no rule finds.
func (r *redaction) shorten(h sequent.Header, entries []sequent.Entry) {
	titles := map[any]bool{h.Title: true}
	for i := range entries {
		titles[entries[i].Body["title"]] = true
	}
	for i := range entries {
		text := entries[i].Thought.Text
		if begin := sequent.TitleOf(text); begin != "" && titles[begin] {
			r.titles[begin] = sequent.TitleOf(mask(text, r.secrets.find(text)))
		}
	}
}

// mask returns a text with a mask in the place of each span.
func mask(text string, spans []span) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.start] + Mask)
		at = s.end
	}
	return b.String() + text[at:]
}

// found counts n masks.
func (r *redaction) found(field, pattern string, n int) {
	f := Finding{Thought: r.thought, Field: field, Pattern: pattern}
	i, ok := r.counted[f]
	if !ok {
		i = len(r.findings)
		r.counted[f] = i
		r.findings = append(r.findings, f)
	}
	r.findings[i].Count += n
}

// header visits the texts of a header.
func (r *redaction) header(h *sequent.Header, do visit) {
	h.ID = sequent.ID(do("id", string(h.ID)))
	h.Owner = do("owner", h.Owner)
	h.Title = do("title", h.Title)
	h.Scope = do("scope", h.Scope)
	h.Dialect = do("dialect", h.Dialect)
	h.Conclusion = do("conclusion", h.Conclusion)
	o := &h.Origin
	for _, f := range []struct {
		name string
		text *string
	}{
		{"origin.client", &o.Client}, {"origin.clientVersion", &o.ClientVersion}, {"origin.agent", &o.Agent}, {"origin.model", &o.Model},
		{"origin.project", &o.Project}, {"origin.gitBranch", &o.GitBranch}, {"origin.commit", &o.Commit},
	} {
		*f.text = do(f.name, *f.text)
	}
	h.Labels = r.labels(h.Labels, do)
}

// entry visits the texts of an entry, and masks it if one has changed.
func (r *redaction) entry(e sequent.Entry, do visit) sequent.Entry {
	before := e
	r.thought, r.changed = 0, false
	if e.Kind == sequent.KindThought {
		t := &e.Thought
		r.thought = t.Seq
		t.Text = do("text", t.Text)
		t.Note = do("note", t.Note)
		t.Branch = do("branch", t.Branch)
		t.Request.Key = do("request.key", t.Request.Key)
		t.Labels = r.labels(t.Labels, do)
	} else {
		e.Body = maps.Clone(e.Body)
		for _, name := range slices.Sorted(maps.Keys(e.Body)) {
			if label, ok := strings.CutPrefix(name, "labels."); ok {
				r.label(label, do)
			}
			if text, ok := e.Body[name].(string); ok && name != "state" && name != "kind" && name != "verdict" { // words, not texts
				e.Body[name] = do(name, text)
			}
		}
	}
	if !r.changed {
		return before
	}
	before.Mask() // with the digests of the original texts
	e.Salt, e.Masked = before.Salt, before.Masked
	e.Thought.Request.Digest = "" // the texts could be guessed from it
	return e
}

func (r *redaction) labels(labels map[string]string, do visit) map[string]string {
	if len(labels) == 0 {
		return labels
	}
	out := make(map[string]string, len(labels))
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		r.label(name, do)
		out[name] = do("labels."+name, labels[name])
	}
	return out
}

// label refuses the name of a label that has a secret. Names that begin with given. are
// those of arguments.
func (r *redaction) label(name string, do visit) {
	if strings.HasPrefix(name, "given.") || do("labels", name) == name {
		return
	}
	r.err = cmp.Or(r.err, error(sequent.Errorf(sequent.CodeInvalidSession, "labels", "leave the session out, or use a narrower expression",
		"the name of a label has a text to mask, and names of labels cannot be masked")))
}
