package sequent

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Limits limit what an [Engine] accepts. A zero field means the default, a
// negative one no limit. Input beyond a limit is refused, never truncated.
type Limits struct {
	Text     int // bytes of a thought's text, and of its note; default 64 KiB
	Name     int // characters of a session ID, branch, scope or request key; default 128
	Thoughts int // thoughts per session; default 100,000
	Branches int // branches per session; default 1,000
	Bytes    int // of a session's log, as [Header.Bytes] counts them; default 16 MiB
}

func (l Limits) orDefaults() Limits {
	d := Limits{Text: 64 << 10, Name: 128, Thoughts: 100_000, Branches: 1_000, Bytes: 16 << 20}
	return Limits{
		cmp.Or(l.Text, d.Text), cmp.Or(l.Name, d.Name), cmp.Or(l.Thoughts, d.Thoughts), cmp.Or(l.Branches, d.Branches), cmp.Or(l.Bytes, d.Bytes),
	}
}

func exceeds(n, limit int) bool { return limit > 0 && n > limit }

// checkBytes refuses to add thoughts and notes to a log that has more bytes with them than
// the limit. A full session can still be closed.
func (l Limits) checkBytes(h *Header, added []Entry) error {
	grows := slices.ContainsFunc(added, func(e Entry) bool { return e.Kind != KindHeader })
	if !grows || !exceeds(int(h.Bytes), l.Bytes) {
		return nil
	}
	return Errorf(CodeLimitExceeded, "thought", "begin another session",
		"the session has %d bytes with this, the limit is %d", h.Bytes, l.Bytes)
}

// checkName refuses names that are too long or hold characters that do not
// print. Everything else is data: "..", "/", "__proto__" are ordinary names.
func checkName(field, s string, limit int, code Code) error {
	if !utf8.ValidString(s) {
		return &Error{Code: code, Field: field, Msg: field + " is not valid UTF-8"}
	}
	if n := utf8.RuneCountInString(s); exceeds(n, limit) {
		return Errorf(CodeLimitExceeded, field, "use a shorter one", "%s has %d characters, the limit is %d", field, n, limit)
	}
	for _, r := range s {
		// Graphic characters and spaces print; controls, format characters
		// (right-to-left marks, zero-width joiners) and line breaks do not.
		if !unicode.IsPrint(r) && r != ' ' {
			return Errorf(code, field, "use printable characters only", "%s holds the non-printing character %U", field, r)
		}
	}
	return nil
}

func checkText(field, s string, limit int) error {
	if !utf8.ValidString(s) {
		return &Error{Code: CodeInvalidThought, Field: field, Msg: field + " is not valid UTF-8"}
	}
	if exceeds(len(s), limit) {
		return Errorf(CodeLimitExceeded, field, "split it into several thoughts",
			"%s has %d bytes, the limit is %d", field, len(s), limit)
	}
	return nil
}

func checkState(s State) error {
	switch s {
	case Active, Completed, Cancelled, Abandoned:
		return nil
	}
	return Errorf(CodeInvalidSession, "state", "use active, completed, cancelled or abandoned",
		"%q is not a state of a session", s)
}

// checkScope checks the scope and dialect of a session. A dialect prefixes the
// caller's scope with its own name, so a scope may be longer than other names.
func checkScope(scope, dialect string, limits Limits) error {
	if err := checkName("scope", scope, 2*limits.Name, CodeInvalidSession); err != nil {
		return err
	}
	return checkName("dialect", dialect, limits.Name, CodeInvalidSession)
}

func checkLabels(labels map[string]string, limit int) error {
	for k, v := range labels {
		if err := checkLabel(k, v, limit); err != nil {
			return err
		}
	}
	return nil
}

func checkLabel(key, value string, limit int) error {
	if !utf8.ValidString(key) {
		return &Error{Code: CodeInvalidSession, Field: "labels", Msg: "the name of a label is not valid UTF-8"}
	}
	if err := checkText("labels", value, limit); err != nil {
		return err
	}
	if n := len(key) + len(value); exceeds(n, limit) {
		return Errorf(CodeLimitExceeded, "labels", "use a shorter one",
			"the label %.40q has %d bytes, the limit is %d", key, n, limit)
	}
	return nil
}

// entryOverhead is what an entry takes beside its texts: numbers, a salt, a hash.
const entryOverhead = 100 // bytes, about

// size returns what e adds to [Header.Bytes].
func (e *Entry) size() int64 {
	t := &e.Thought
	n := entryOverhead + len(t.Text) + len(t.Note) + len(t.Branch) + len(t.Request.Key) + len(t.Request.Digest)
	for k, v := range t.Labels {
		n += len(k) + len(v)
	}
	for k, v := range e.Body {
		n += len(k)
		if text, ok := v.(string); ok {
			n += len(text)
		}
	}
	return int64(n)
}
