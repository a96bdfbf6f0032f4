package sequent

import (
	"fmt"
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
}

// defaultLimits are the limits of the zero Limits.
var defaultLimits = Limits{Text: 64 << 10, Name: 128, Thoughts: 100_000, Branches: 1_000}

func (l Limits) orDefaults() Limits {
	fill := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	fill(&l.Text, defaultLimits.Text)
	fill(&l.Name, defaultLimits.Name)
	fill(&l.Thoughts, defaultLimits.Thoughts)
	fill(&l.Branches, defaultLimits.Branches)
	return l
}

func exceeds(n, limit int) bool { return limit > 0 && n > limit }

// checkName refuses names that are too long or hold characters that do not
// print. Everything else is data: "..", "/", "__proto__" are ordinary names.
func checkName(field, s string, limit int, code Code) error {
	if !utf8.ValidString(s) {
		return &Error{Code: code, Field: field, Msg: field + " is not valid UTF-8"}
	}
	if n := utf8.RuneCountInString(s); exceeds(n, limit) {
		return &Error{
			Code: CodeLimitExceeded, Field: field,
			Msg: fmt.Sprintf("%s has %d characters, the limit is %d", field, n, limit),
			Fix: "use a shorter one",
		}
	}
	for _, r := range s {
		// Graphic characters and spaces print; controls, format characters
		// (right-to-left marks, zero-width joiners) and line breaks do not.
		if !unicode.IsPrint(r) && r != ' ' {
			return &Error{
				Code: code, Field: field,
				Msg: fmt.Sprintf("%s holds the non-printing character %U", field, r),
				Fix: "use printable characters only",
			}
		}
	}
	return nil
}

func checkText(field, s string, limit int) error {
	if !utf8.ValidString(s) {
		return &Error{Code: CodeInvalidThought, Field: field, Msg: field + " is not valid UTF-8"}
	}
	if exceeds(len(s), limit) {
		return &Error{
			Code: CodeLimitExceeded, Field: field,
			Msg: fmt.Sprintf("%s has %d bytes, the limit is %d", field, len(s), limit),
			Fix: "split it into several thoughts",
		}
	}
	return nil
}

func checkState(s State) error {
	switch s {
	case Active, Completed, Cancelled, Abandoned:
		return nil
	}
	return &Error{
		Code: CodeInvalidSession, Field: "state",
		Msg: fmt.Sprintf("%q is not a state of a session", s),
		Fix: "use active, completed, cancelled or abandoned",
	}
}

// checkOrigin checks the scope and dialect of a session. A dialect prefixes the
// caller's scope with its own name, so a scope may be longer than other names.
func checkOrigin(scope, dialect string, limits Limits) error {
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
		return &Error{
			Code: CodeLimitExceeded, Field: "labels",
			Msg: fmt.Sprintf("the label %.40q has %d bytes, the limit is %d", key, n, limit),
			Fix: "use a shorter one",
		}
	}
	return nil
}
