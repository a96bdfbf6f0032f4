package sequent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Code classifies an error for programs. Codes are stable; messages may change.
type Code string

// The codes of this package and of the stores under it. Codes of a dialect's
// own rules live in the dialect.
const (
	CodeInvalidThought   Code = "invalid_thought"    // a field of a draft is not acceptable
	CodeInvalidSession   Code = "invalid_session"    // a session ID, label or scope is not acceptable
	CodeInvalidQuery     Code = "invalid_query"      // a search or listing request is not valid
	CodeSessionNotFound  Code = "session_not_found"  // no such session, for this owner
	CodeThoughtNotFound  Code = "thought_not_found"  // no such thought or branch in the session
	CodeSessionExists    Code = "session_exists"     // Begin found a session with that ID
	CodeRequestKeyReused Code = "request_key_reused" // a request key came back with another body
	CodeLimitExceeded    Code = "limit_exceeded"     // one of Limits would be exceeded; nothing was stored
	CodeQuotaExceeded    Code = "quota_exceeded"     // the owner's Quota would be exceeded; nothing was stored
	CodeConflict         Code = "conflict"           // another writer changed the session first; safe to retry
	CodeCanceled         Code = "canceled"           // the call was cancelled before anything was stored
	CodeBusy             Code = "store_busy"         // other writers held the store until the timeout; safe to retry
	CodeUnavailable      Code = "store_unavailable"  // the store cannot be reached or opened
	CodeReadOnly         Code = "store_read_only"    // the store cannot be written
	CodeFull             Code = "store_full"         // no space left for the store
	CodeCorrupt          Code = "store_corrupt"      // the store's file is damaged
	CodeOtherFormat      Code = "store_other_format" // the store was written by a program with another format
	CodeInternal         Code = "internal"           // a fault of the program; details are in the log
	CodeUsage            Code = "usage"              // a program was started with a setting that it cannot use; no call returns it
)

// Codes returns every code of this package, for tables and tests.
func Codes() []Code {
	return []Code{
		CodeInvalidThought, CodeInvalidSession, CodeInvalidQuery,
		CodeSessionNotFound, CodeThoughtNotFound, CodeSessionExists, CodeRequestKeyReused,
		CodeLimitExceeded, CodeQuotaExceeded, CodeConflict, CodeCanceled, CodeBusy, CodeUnavailable,
		CodeReadOnly, CodeFull, CodeCorrupt, CodeOtherFormat, CodeInternal,
	}
}

// An Error is a refusal or a failure with a stable code.
type Error struct {
	Code  Code
	Field string // the argument at fault, in the words of this package; may be empty
	Msg   string // what is wrong, in one sentence; safe to show to a client
	Fix   string // what to do next; safe to show to a client; may be empty
	Err   error  // the cause, for logs only: it may hold paths

	// Uncertain means that a change failed and may have been stored nevertheless:
	// its commit failed halfway, or the reply to it was lost. Without it, a change
	// that failed stored nothing. A store sets Fix to [FixUncertain].
	Uncertain bool
}

// Errorf returns an [Error] with a formatted message, and no cause.
func Errorf(code Code, field, fix, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Msg: fmt.Sprintf(format, args...), Fix: fix}
}

// FixUncertain is the Fix of an [Error] that is Uncertain.
const FixUncertain = "read the session before you try again, or repeat the call with the same request key"

// IsUncertain reports whether err carries an [Error] that is Uncertain.
func IsUncertain(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Uncertain
}

// Error returns the message, what to do next, and the cause.
func (e *Error) Error() string {
	s := e.Msg
	if s == "" {
		s = string(e.Code)
	}
	if e.Fix != "" {
		s += ": " + e.Fix
	}
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is a sentinel of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code && t.Msg == ""
}

// CodeOf returns the code that err carries. It is CodeInternal if err carries
// none, and empty if err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// Sentinels for errors.Is.
var (
	ErrNotFound = &Error{Code: CodeSessionNotFound}
	ErrExists   = &Error{Code: CodeSessionExists}
	ErrConflict = &Error{Code: CodeConflict}
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

// first returns the first of some errors that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
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

// A Quota limits what the sessions of one owner may hold together. A zero field means
// no limit. Other processes' changes are noticed within ten seconds, so several processes
// together can exceed a quota by what they store in that time.
type Quota struct {
	Bytes    int64 // sum of [Header.Bytes]
	Sessions int
}

// usageAge is how old a usage may be with which a change is admitted, and refusalAge one
// with which it is refused.
const (
	usageAge   = 10 * time.Second
	refusalAge = time.Second
)

// A meter knows the usage of owners that have a quota.
type meter struct {
	quota Quota
	store Store

	mu     sync.Mutex // guards owners and what they have but reading
	owners map[string]*used
}

// A used is what is known of the usage of one owner: the sum of own and others.
type used struct {
	own     growth     // of changes of this process, stored or admitted
	pending growth     // the part of own that is not stored yet
	others  growth     // what was stored besides own when it was read
	read    time.Time  // the zero time if it must be read
	reading sync.Mutex // held while it is read
}

// A growth is what a change adds.
type growth struct {
	bytes    int64
	sessions int
}

func (g growth) plus(o growth) growth { return growth{g.bytes + o.bytes, g.sessions + o.sessions} }

func (g growth) minus(o growth) growth { return growth{g.bytes - o.bytes, g.sessions - o.sessions} }

// of returns what is known of an owner, or nil without a quota. The caller holds mu.
func (m *meter) of(owner string) *used {
	u := m.owners[owner]
	if u == nil && m.quota != (Quota{}) {
		u = new(used)
		m.owners[owner] = u
	}
	return u
}

// refresh reads the usage of an owner unless it was read in the last age. It reports whether
// it did.
func (m *meter) refresh(ctx context.Context, owner string, age time.Duration) (bool, error) {
	m.mu.Lock()
	u := m.of(owner)
	m.mu.Unlock()
	if u == nil {
		return false, nil
	}
	u.reading.Lock()
	defer u.reading.Unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	begun := time.Now()
	if begun.Sub(u.read) < age {
		return false, nil
	}
	stored := u.own.minus(u.pending) // the store may have more of own before it is read: that counts twice
	m.mu.Unlock()
	all, err := UsageOf(ctx, m.store, Query{Owner: owner})
	m.mu.Lock()
	if err != nil {
		return false, err
	}
	u.read, u.others = begun, growth{}.minus(stored)
	for _, one := range all {
		u.others = u.others.plus(growth{one.Bytes, one.Sessions})
	}
	return true, nil
}

// admit counts what a change adds, or returns why the quota refuses it.
func (m *meter) admit(owner string, g growth) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.of(owner)
	if u == nil {
		return nil
	}
	const fix = "delete sessions that are no longer needed, or ask for a larger quota"
	have := u.own.plus(u.others)
	switch {
	case m.quota.Bytes > 0 && g.bytes > 0 && have.bytes+g.bytes > m.quota.Bytes:
		return Errorf(CodeQuotaExceeded, "", fix,
			"your sessions have %d bytes, this call adds %d, and the quota is %d", have.bytes, g.bytes, m.quota.Bytes)
	case m.quota.Sessions > 0 && g.sessions > 0 && have.sessions+g.sessions > m.quota.Sessions:
		return Errorf(CodeQuotaExceeded, "", fix, "you have as many sessions as the quota allows: %d", m.quota.Sessions)
	}
	u.own, u.pending = u.own.plus(g), u.pending.plus(g)
	return nil
}

// settle ends what admit has begun: the change is stored, or adds nothing.
func (m *meter) settle(owner string, g growth, stored bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if u := m.of(owner); u != nil {
		u.pending = u.pending.minus(g)
		if !stored {
			u.own = u.own.minus(g)
		}
	}
}

// freed makes the usage of owners be read again, after a deletion: of one owner or of all.
func (m *meter) freed(owner string, all bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, u := range m.owners {
		if all || name == owner {
			u.read = time.Time{}
		}
	}
}
