package sequent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Quota limits what the sessions of one owner may hold together. A zero field means
// no limit. Other processes' changes are noticed within ten seconds, or later for owners
// with very many sessions, so several processes together can exceed a quota by what they
// store in that time.
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
	Refused  int64     // calls that a quota has refused
	Updated  time.Time // the latest [Header.Updated]; zero without sessions
}

// A UsageQuery selects the owners of [Store.Usage].
type UsageQuery struct {
	Owner     string
	AllOwners bool // ignore Owner
}

// usageAge is how old a usage may be with which a change is admitted, and
// refusalAge one with which a change is refused. Where reading it takes long, it may be
// readRatio times as old as that takes, after a deletion freedRatio times.
const (
	usageAge   = 10 * time.Second
	refusalAge = time.Second
	readRatio  = 20
	freedRatio = 5
)

// reportRefusals is how often refusals of an owner are stored at most.
const reportRefusals = time.Second

// A meter keeps the usage of owners that have a quota.
type meter struct {
	quota Quota
	store Store

	mu       sync.Mutex // guards the accounts
	accounts map[string]*account
}

// An account is the usage of one owner, as far as it is known.
type account struct {
	reading  chan struct{} // capacity one; holds a token while a goroutine reads the usage
	read     time.Time     // when; zero means never
	freed    bool          // sessions were deleted since
	took     time.Duration // to read it
	used     growth        // when it was read, and what this process has committed since
	reserved growth        // by changes that are not committed yet
	during   growth        // committed by this process during the read under way

	refused  int64     // refusals that are not stored
	reported time.Time // when they were stored last
}

// A growth is what a change adds.
type growth struct {
	bytes    int64
	sessions int
}

func (g growth) plus(o growth) growth  { return growth{g.bytes + o.bytes, g.sessions + o.sessions} }
func (g growth) minus(o growth) growth { return growth{g.bytes - o.bytes, g.sessions - o.sessions} }

// newMeter returns a meter, or nil if the quota has no limit. All methods work with nil.
func newMeter(q Quota, s Store) *meter {
	if q.Bytes <= 0 && q.Sessions <= 0 {
		return nil
	}
	return &meter{quota: q, store: s, accounts: make(map[string]*account)}
}

// account returns the account of an owner. The caller holds mu.
func (m *meter) account(owner string) *account {
	a := m.accounts[owner]
	if a == nil {
		a = &account{reading: make(chan struct{}, 1)}
		m.accounts[owner] = a
	}
	return a
}

// refresh reads the usage of an owner if it is too old to admit a change, or to refuse
// one. It reports whether it did.
func (m *meter) refresh(ctx context.Context, owner string, refusing bool) (bool, error) {
	if m == nil {
		return false, nil
	}
	m.mu.Lock()
	a := m.account(owner)
	age := max(usageAge, readRatio*a.took)
	switch {
	case refusing && a.freed:
		age = freedRatio * a.took
	case refusing:
		age = max(refusalAge, readRatio*a.took)
	}
	fresh := !a.read.IsZero() && time.Since(a.read) < age
	m.mu.Unlock()
	if fresh {
		return false, nil
	}
	select {
	case a.reading <- struct{}{}:
	case <-ctx.Done():
		return false, canceled(ctx.Err())
	}
	defer func() { <-a.reading }()
	m.mu.Lock()
	fresh = !a.read.IsZero() && time.Since(a.read) < age // another goroutine has read it meanwhile
	a.during = growth{}
	m.mu.Unlock()
	if fresh {
		return true, nil
	}
	begun := time.Now()
	all, err := m.store.Usage(ctx, UsageQuery{Owner: owner})
	if err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// A commit during the read may or may not be in what was read. It is counted, at
	// worst twice and until the next read.
	a.used, a.read, a.took, a.freed = a.during, begun, time.Since(begun), false
	for _, u := range all {
		a.used = a.used.plus(growth{u.Bytes, u.Sessions})
	}
	return true, nil
}

// reserve reserves what a change adds, or returns why the quota refuses it.
func (m *meter) reserve(owner string, g growth) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.account(owner)
	used := a.used.plus(a.reserved)
	const fix = "delete sessions that are no longer needed, or ask for a larger quota"
	switch {
	case m.quota.Bytes > 0 && g.bytes > 0 && used.bytes+g.bytes > m.quota.Bytes:
		return &Error{
			Code: CodeQuotaExceeded,
			Msg:  fmt.Sprintf("your sessions have %d bytes, this call adds %d, and the quota is %d", used.bytes, g.bytes, m.quota.Bytes),
			Fix:  fix,
		}
	case m.quota.Sessions > 0 && g.sessions > 0 && used.sessions+g.sessions > m.quota.Sessions:
		return &Error{
			Code: CodeQuotaExceeded,
			Msg:  fmt.Sprintf("you have as many sessions as the quota allows: %d", m.quota.Sessions),
			Fix:  fix,
		}
	}
	a.reserved = a.reserved.plus(g)
	return nil
}

// settle ends a reservation. What was committed is used from now on.
func (m *meter) settle(owner string, g growth, committed bool) {
	if m == nil || g == (growth{}) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.account(owner)
	a.reserved = a.reserved.minus(g)
	if committed {
		a.used, a.during = a.used.plus(g), a.during.plus(g)
	}
}

// freed makes the usage of an owner be read again before it is refused, after a
// deletion.
func (m *meter) freed(owner string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.account(owner).freed = true
}

// freedAll is freed for all owners.
func (m *meter) freedAll() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for owner, a := range m.accounts {
		a.freed = true
		if a.reserved == (growth{}) && a.refused == 0 && len(a.reading) == 0 {
			delete(m.accounts, owner) // so that owners that are gone take no memory
		}
	}
}

// refused counts a refusal, and stores the count at most once in reportRefusals: a
// client that is refused all the time must not make the store write all the time.
func (m *meter) refused(ctx context.Context, owner string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	a := m.account(owner)
	a.refused++
	n := a.refused
	due := time.Since(a.reported) >= reportRefusals
	if due {
		a.refused, a.reported = 0, time.Now()
	}
	m.mu.Unlock()
	if !due {
		return
	}
	if err := m.store.AddRefused(context.WithoutCancel(ctx), owner, n); err != nil {
		m.mu.Lock()
		a.refused += n // with the next one
		m.mu.Unlock()
	}
}

// StoreRefusals stores the refusals by quotas that are only counted in this process so
// far. Programs call it before they close the store.
func (e *Engine) StoreRefusals(ctx context.Context) error {
	c, err := e.open()
	if err != nil || c.meter == nil {
		return err
	}
	m := c.meter
	due := make(map[string]int64)
	m.mu.Lock()
	for owner, a := range m.accounts {
		if a.refused > 0 {
			due[owner], a.refused = a.refused, 0
		}
	}
	m.mu.Unlock()
	for owner, n := range due {
		err = errors.Join(err, m.store.AddRefused(ctx, owner, n))
	}
	return err
}

// Usage returns what the store holds for each owner that has sessions or was refused
// by a quota, sorted by owner. Only the engine of the local user sees other owners.
func (e *Engine) Usage(ctx context.Context) ([]Usage, error) {
	c, err := e.open()
	if err != nil {
		return nil, err
	}
	return c.store.Usage(ctx, UsageQuery{Owner: e.owner, AllOwners: e.owner == ""})
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
