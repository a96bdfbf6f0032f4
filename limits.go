package sequent

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
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

// defaultLimits are the limits of the zero Limits.
var defaultLimits = Limits{Text: 64 << 10, Name: 128, Thoughts: 100_000, Branches: 1_000, Bytes: 16 << 20}

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
	fill(&l.Bytes, defaultLimits.Bytes)
	return l
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

// A Quota limits what the sessions of one owner may hold together. A zero field means
// no limit. Other processes' changes are noticed within ten seconds, so several processes
// together can exceed a quota by what they store in that time.
type Quota struct {
	Bytes    int64 // sum of [Header.Bytes]
	Sessions int
}

// A Usage is what a store holds for one owner.
type Usage struct {
	Owner    string
	Sessions int
	Thoughts int
	Bytes    int64     // sum of [Header.Bytes]
	Updated  time.Time // the latest [Header.Updated]
}

// A UsageQuery selects the owners of a usage.
type UsageQuery struct {
	Owner     string
	AllOwners bool // ignore Owner
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

// A used is the usage of one owner when it was read, and what this process has added since.
type used struct {
	growth
	pending growth     // of changes that are admitted and not yet stored
	stored  growth     // since the last read began
	read    time.Time  // the zero time if it must be read
	reading sync.Mutex // held while it is read
}

// A growth is what a change adds.
type growth struct {
	bytes    int64
	sessions int
}

func (g *growth) add(o growth) { g.bytes, g.sessions = g.bytes+o.bytes, g.sessions+o.sessions }

func (g growth) negative() growth { return growth{-g.bytes, -g.sessions} }

func (m *meter) limits() bool { return m.quota.Bytes > 0 || m.quota.Sessions > 0 }

// of returns what is known of an owner. The caller holds mu.
func (m *meter) of(owner string) *used {
	u := m.owners[owner]
	if u == nil {
		u = new(used)
		m.owners[owner] = u
	}
	return u
}

// refresh reads the usage of an owner unless it was read in the last age. It reports whether
// it did.
func (m *meter) refresh(ctx context.Context, owner string, age time.Duration) (bool, error) {
	if !m.limits() {
		return false, nil
	}
	m.mu.Lock()
	if len(m.owners) > 10_000 { // owners that are gone take no memory
		maps.DeleteFunc(m.owners, func(_ string, u *used) bool { return u.pending == growth{} })
	}
	u := m.of(owner)
	m.mu.Unlock()
	u.reading.Lock()
	defer u.reading.Unlock()
	m.mu.Lock()
	fresh := time.Since(u.read) < age
	u.stored = growth{}
	m.mu.Unlock()
	if fresh {
		return false, nil
	}
	begun := time.Now()
	all, err := UsageOf(ctx, m.store, UsageQuery{Owner: owner})
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u.read, u.growth = begun, u.pending // the store may have read before what was stored meanwhile: it counts twice
	u.growth.add(u.stored)
	for _, one := range all {
		u.growth.add(growth{one.Bytes, one.Sessions})
	}
	return true, nil
}

// admit counts what a change adds, or returns why the quota refuses it.
func (m *meter) admit(owner string, g growth) error {
	if !m.limits() {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.of(owner)
	const fix = "delete sessions that are no longer needed, or ask for a larger quota"
	switch {
	case m.quota.Bytes > 0 && g.bytes > 0 && u.bytes+g.bytes > m.quota.Bytes:
		return Errorf(CodeQuotaExceeded, "", fix,
			"your sessions have %d bytes, this call adds %d, and the quota is %d", u.bytes, g.bytes, m.quota.Bytes)
	case m.quota.Sessions > 0 && g.sessions > 0 && u.sessions+g.sessions > m.quota.Sessions:
		return Errorf(CodeQuotaExceeded, "", fix, "you have as many sessions as the quota allows: %d", m.quota.Sessions)
	}
	u.growth.add(g)
	u.pending.add(g)
	return nil
}

// settle ends what admit has begun: the change is stored, or adds nothing.
func (m *meter) settle(owner string, g growth, stored bool) {
	if !m.limits() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.of(owner)
	u.pending.add(g.negative())
	if stored {
		u.stored.add(g)
	} else {
		u.growth.add(g.negative())
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

// Usage returns what the store holds for each owner that has sessions, sorted by owner. Only
// the engine of the local user sees other owners.
func (e *Engine) Usage(ctx context.Context) ([]Usage, error) {
	c, err := e.open()
	if err != nil {
		return nil, err
	}
	return UsageOf(ctx, c.store, UsageQuery{Owner: e.owner, AllOwners: e.owner == ""})
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
