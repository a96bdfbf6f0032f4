// Package redact removes texts from a copy of a session, so that its chain of hashes
// still verifies.
//
// Every text that a pattern matches anywhere in the session is removed everywhere in
// it: also where the pattern needs a context that is missing there.
package redact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
)

// Mask is what stands in the place of a removed text.
const Mask = "[redacted]"

// A Pattern finds texts to remove: the first group of a match, or the whole match if
// the expression has no group.
type Pattern struct {
	Name string // for a Finding; it must not have the text itself
	Expr *regexp.Regexp
}

// A Finding counts the texts that were removed from a field.
type Finding struct {
	Thought int    `json:"thought,omitempty"` // 0 for the header and for other entries
	Field   string `json:"field"`
	Pattern string `json:"pattern"`
	Count   int    `json:"count"`
}

// Session returns a copy of a session without the texts that patterns find. Entries
// from which a text was removed are masked; see [sequent.Entry.Mask]. Names of labels
// are part of the proof, so it is an error if one has such a text.
func Session(h sequent.Header, entries []sequent.Entry, patterns []Pattern) (sequent.Header, []sequent.Entry, []Finding, error) {
	r := &redaction{patterns: patterns, secrets: make(map[string]string), masks: make(map[string]string), taken: make(map[string]bool)}
	r.header(&h, r.collect)
	for i := range entries {
		r.entry(entries[i], r.collect)
	}
	r.sort()
	for i := range entries {
		if text := entries[i].Thought.Text; text != "" {
			if out := r.without(text, nil); out != text {
				r.titles = append(r.titles, title{start(text), start(out)})
			}
		}
	}
	r.entries = make([]sequent.Entry, len(entries))
	for i := range entries {
		r.entries[i] = r.entry(entries[i], r.replace)
	}
	r.thought = 0
	r.header(&h, r.replace)
	return h, r.entries, r.findings, r.err
}

type redaction struct {
	patterns []Pattern
	secrets  map[string]string // name of the pattern, by text to remove
	ordered  []string          // secrets, the longest first
	masks    map[string]string // of names, such as labels of branches, by field and name
	taken    map[string]bool   // fields and values of masks
	titles   []title

	entries  []sequent.Entry
	findings []Finding
	thought  int // that is being redacted
	changed  bool
	err      error
}

// A title is the beginning of a text from which something was removed, before and after.
type title struct{ before, after string }

// A visit is called with each text, and returns what replaces it.
type visit func(field, text string) string

// collect adds what patterns find in a text to the secrets.
func (r *redaction) collect(_, text string) string {
	for _, p := range r.patterns {
		for _, m := range p.Expr.FindAllStringSubmatch(text, -1) {
			secret := m[0]
			if len(m) > 1 && m[1] != "" {
				secret = m[1]
			}
			for _, form := range []string{secret, inJSON(secret)} {
				if form != "" && r.secrets[form] == "" {
					r.secrets[form] = p.Name
				}
			}
		}
	}
	return text
}

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

func (r *redaction) sort() {
	r.ordered = slices.SortedFunc(maps.Keys(r.secrets), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
}

// replace returns a text without secrets.
func (r *redaction) replace(field, text string) string {
	found := func(pattern string, n int) { r.found(field, pattern, n) }
	out := r.without(text, found)
	if field == "title" {
		if whole := r.shortened(text); whole != text && whole != out {
			out = whole
			found("beginning of a masked text", 1)
		}
	}
	if out == text {
		return text
	}
	r.changed = true
	switch field {
	case "branch", "request.key", "id": // names: two of them stay two
		return r.unique(field, text, out)
	}
	return out
}

// without removes the secrets from a text. It marks all of them first, so that one
// that overlaps another leaves nothing behind. It calls found for each, unless that is
// nil.
func (r *redaction) without(text string, found func(pattern string, n int)) string {
	var remove []bool // by byte
	for _, secret := range r.ordered {
		n := 0
		for at := 0; ; {
			i := strings.Index(text[at:], secret)
			if i < 0 {
				break
			}
			if remove == nil {
				remove = make([]bool, len(text))
			}
			covered := true
			for j := at + i; j < at+i+len(secret); j++ {
				covered = covered && remove[j]
				remove[j] = true
			}
			if !covered {
				n++
			}
			at += i + 1
		}
		if n > 0 && found != nil {
			found(r.secrets[secret], n)
		}
	}
	if remove == nil {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !remove[i]:
			b.WriteByte(text[i])
		case i == 0 || !remove[i-1]:
			b.WriteString(Mask)
		}
	}
	return b.String()
}

// found counts n texts.
func (r *redaction) found(field, pattern string, n int) {
	for i := range r.findings {
		if f := &r.findings[i]; f.Thought == r.thought && f.Field == field && f.Pattern == pattern {
			f.Count += n
			return
		}
	}
	r.findings = append(r.findings, Finding{Thought: r.thought, Field: field, Pattern: pattern, Count: n})
}

// unique returns a mask for a name, which no other name has.
func (r *redaction) unique(field, name, mask string) string {
	key := field + "\x00" + name
	if r.masks[key] == "" {
		free := mask
		for n := 2; r.taken[field+"\x00"+free]; n++ {
			free = fmt.Sprintf("%s %d", mask, n)
		}
		r.masks[key], r.taken[field+"\x00"+free] = free, true
	}
	return r.masks[key]
}

// start returns the words with which a text begins, as a title has them.
func start(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.Join(strings.Fields(line), " ")
}

// shortened returns the title after redaction, if it is the shortened beginning of a
// text: the cut may have left a part of a secret that no pattern finds.
func (r *redaction) shortened(text string) string {
	const most = 80 // characters of a title
	begin := strings.TrimSuffix(text, "…")
	for _, t := range r.titles {
		if begin != "" && strings.HasPrefix(t.before, begin) && !strings.HasPrefix(t.after, begin) {
			if runes := []rune(t.after); len(runes) > most {
				return strings.TrimSpace(string(runes[:most-1])) + "…"
			}
			return t.after
		}
	}
	return text
}

// header visits the texts of a header.
func (r *redaction) header(h *sequent.Header, do visit) {
	h.ID = sequent.ID(do("id", string(h.ID)))
	h.Owner = do("owner", h.Owner)
	h.Title = do("title", h.Title)
	h.Scope = do("scope", h.Scope)
	h.Dialect = do("dialect", h.Dialect)
	h.Conclusion = do("conclusion", h.Conclusion)
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
			r.name(name)
			if text, ok := e.Body[name].(string); ok && name != "state" {
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
		r.name(name)
		out[name] = do("labels."+name, labels[name])
	}
	return out
}

// name refuses the name of a label or field that has a secret. Names that begin with
// given. are those of arguments.
func (r *redaction) name(name string) {
	if r.err != nil || strings.HasPrefix(strings.TrimPrefix(name, "labels."), "given.") {
		return
	}
	switch name {
	case "title", "scope", "dialect", "conclusion", "state":
		return
	}
	name = strings.TrimPrefix(name, "labels.")
	for _, p := range r.patterns {
		if p.Expr.MatchString(name) || slices.ContainsFunc(r.ordered, func(s string) bool { return strings.Contains(name, s) }) {
			r.err = &sequent.Error{
				Code: sequent.CodeInvalidSession, Field: "labels",
				Msg: fmt.Sprintf("the name of a label matches %s, and names of labels cannot be masked", p.Name),
				Fix: "use a narrower expression",
			}
			return
		}
	}
}
