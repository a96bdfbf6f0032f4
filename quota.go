package sequent

import (
	"context"
	"sync"
	"time"
)

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
	all, err := UsageOf(ctx, m.store, UsageQuery{Owner: owner})
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
