package sequent

import (
	"cmp"
	"context"
	"iter"
	"sync/atomic"
	"time"
)

// A Config configures an [Engine]. The zero Config is useful: it keeps
// sessions in memory.
type Config struct {
	Store  Store            // nil means a new MemoryStore
	Now    func() time.Time // nil means time.Now
	Limits Limits           // zero fields mean the defaults
	// TTL is how long a session is kept after its last change; 0 means no
	// limit. An expired session does not exist for any verb; Sweep removes it
	// from the store.
	TTL time.Duration
	// Quota limits what each owner may store; the zero Quota sets no limit.
	Quota Quota
	// CacheBytes limits the memory for recently used sessions, about. 0 means 32 MiB; a
	// negative number disables the cache.
	CacheBytes int64
	// Used is called with each session that a call names, before the call does anything; nil
	// calls nothing. It is for a log of who has read and changed what.
	Used func(ctx context.Context, k Key, changes bool)
	// Lost is called after a change of a session that the store has put back to an earlier state,
	// with the numbers of the thoughts that were acknowledged before and are gone; nil calls
	// nothing. The session has a note about them, from [FromStore].
	Lost func(ctx context.Context, k Key, numbers string)
}

// An Engine is the one place where sessions change. It is safe for concurrent
// use. It starts no goroutines, so there is nothing to close but the Store.
//
// An Engine sees the sessions of one owner; see [Engine.Owned].
type Engine struct {
	*core
	owner string
}

// A core is what engines of different owners share.
type core struct {
	store   Store
	now     func() time.Time
	limits  Limits
	ttl     time.Duration
	used    func(ctx context.Context, k Key, changes bool)
	lost    func(ctx context.Context, k Key, numbers string)
	slots   slots
	meter   meter
	commits committer

	quotaRefused, swept atomic.Int64
}

// open returns what e works with. The zero Engine has nothing to work with.
func (e *Engine) open() (*core, error) {
	if e.core == nil {
		return nil, &Error{Code: CodeInternal, Msg: "the engine is the zero Engine", Fix: "make one with sequent.New"}
	}
	return e.core, nil
}

// New returns an engine for the local user, whose owner is empty.
func New(cfg Config) *Engine {
	c := &core{store: cfg.Store, now: cfg.Now, limits: cfg.Limits.orDefaults(), ttl: cfg.TTL, used: cfg.Used, lost: cfg.Lost}
	if c.store == nil {
		c.store = NewMemoryStore()
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.used == nil {
		c.used = func(context.Context, Key, bool) {}
	}
	c.slots.init(cmp.Or(cfg.CacheBytes, 32<<20))
	c.commits.init(c.store)
	c.meter = meter{quota: cfg.Quota, store: c.store, owners: make(map[string]*used)}
	return &Engine{core: c}
}

// Owned returns the engine as an owner sees it. To an owner the sessions of
// others do not exist: the same ID may be in use by several.
func (e *Engine) Owned(owner string) *Engine { return &Engine{core: e.core, owner: owner} }

// Owner returns the owner whose sessions the engine sees; empty is the local user.
func (e *Engine) Owner() string { return e.owner }

// Limits returns the limits that apply, defaults filled in.
func (e *Engine) Limits() Limits {
	if e.core == nil {
		return defaultLimits
	}
	return e.limits
}

// Now returns the engine's time.
func (e *Engine) Now() time.Time {
	if e.core == nil {
		return precise(time.Now())
	}
	return precise(e.now())
}

// Begin creates session id and applies change to it. If there is such a
// session, the error matches ErrExists.
//
// Update describes change.
func (e *Engine) Begin(ctx context.Context, id ID, change func(*Change) error) (*Session, error) {
	return e.apply(ctx, id, begin, change)
}

// Update changes an existing session. If there is none, the error matches
// ErrNotFound.
//
// Update calls change with the session as it is and commits what it records. If
// another writer has changed the session meanwhile, Update calls change again,
// with the new state. So change must have no effect but through its Change,
// wait for nothing, and not call the engine. If it returns an error, nothing is
// changed and Update returns that error. If it records nothing, nothing is
// written.
//
// Update returns when the change is durable, as the store defines it. If it
// returns an error, nothing was stored, unless [IsUncertain] reports that the
// outcome is unknown. If ctx is done before the commit begins, the error has the
// code CodeCanceled and nothing is stored.
func (e *Engine) Update(ctx context.Context, id ID, change func(*Change) error) (*Session, error) {
	return e.apply(ctx, id, update, change)
}

// Ensure is Update if the session exists and Begin if it does not.
func (e *Engine) Ensure(ctx context.Context, id ID, change func(*Change) error) (*Session, error) {
	return e.apply(ctx, id, ensure, change)
}

// Append appends thoughts to a session, which it begins if there is none, in one step; see
// [Engine.Ensure].
func (e *Engine) Append(ctx context.Context, id ID, drafts ...Draft) (*Session, error) {
	return e.Ensure(ctx, id, func(c *Change) error {
		for _, d := range drafts {
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	})
}

// Delete removes a session and its log.
func (e *Engine) Delete(ctx context.Context, id ID) error {
	k, err := e.key(ctx, id, true)
	if err != nil {
		return err
	}
	err = e.store.Delete(ctx, k, 0)
	e.slots.forget(func(h *Header) bool { return h.Key == k })
	e.meter.freed(k.Owner, false)
	return err
}

// Session returns a session as it is now, in every process.
func (e *Engine) Session(ctx context.Context, id ID) (*Session, error) {
	k, err := e.key(ctx, id, false)
	if err != nil {
		return nil, err
	}
	return e.current(ctx, k)
}

// Peek is [Engine.Session] for a caller that compares sessions and shows nothing of this one: it does not count
// as use; see [Config].
func (e *Engine) Peek(ctx context.Context, id ID) (*Session, error) {
	if _, err := e.open(); err != nil {
		return nil, err
	}
	return e.current(ctx, Key{Owner: e.owner, ID: id})
}

func (e *Engine) current(ctx context.Context, k Key) (*Session, error) {
	s, err := e.session(ctx, k)
	if err != nil {
		return nil, err
	}
	if s.header.Expired(e.now()) {
		return nil, NotFound(k.ID)
	}
	return s, nil
}

// Sessions lists the sessions that q selects. Only the engine of the local user
// may list those of all owners.
func (e *Engine) Sessions(ctx context.Context, q Query) (Page, error) {
	c, err := e.open()
	if err != nil {
		return Page{}, err
	}
	q.Owner, q.Now = e.owner, e.Now()
	q.AllOwners = q.AllOwners && e.owner == ""
	return c.store.List(ctx, q)
}

// AllSessions yields the headers of the sessions that q selects, in the order of
// [Engine.Sessions]. It reads them in pages of q.Limit, or 500 if that is 0. It
// ends after an error.
func (e *Engine) AllSessions(ctx context.Context, q Query) iter.Seq2[Header, error] {
	c, err := e.open()
	if err != nil {
		return func(yield func(Header, error) bool) { yield(Header{}, err) }
	}
	q.Owner, q.Now = e.owner, e.Now()
	q.AllOwners = q.AllOwners && e.owner == ""
	return headers(ctx, c.store, q)
}

// Search finds thoughts by their words; see [SearchQuery], and tells whether they still
// hold. A page can have fewer hits than the store has found, because a thought and those
// that it replaced are one hit. Only the engine of the local user may search the
// sessions of all owners.
func (e *Engine) Search(ctx context.Context, q SearchQuery) (Hits, error) {
	c, err := e.open()
	if err != nil {
		return Hits{}, err
	}
	q.Owner, q.Now = e.owner, e.Now()
	q.AllOwners = q.AllOwners && e.owner == ""
	found, err := SearchStore(ctx, c.store, q)
	if err == nil {
		found.Hits, err = c.appraise(ctx, found.Hits)
	}
	return found, err
}

// LastChange returns when a session of any owner was last changed, expired or not,
// or the zero time if there are no sessions.
func (e *Engine) LastChange(ctx context.Context) (time.Time, error) {
	c, err := e.open()
	if err != nil {
		return time.Time{}, err
	}
	page, err := c.store.List(ctx, Query{AllOwners: true, Limit: 1})
	if err != nil || len(page.Headers) == 0 {
		return time.Time{}, err
	}
	return page.Headers[0].Updated, nil
}

// Sweep deletes the sessions that q selects, in batches that leave room for writers between
// them, including sessions that begin while it runs. It returns how many it deleted. Only the
// engine of the local user may delete those of others.
func (e *Engine) Sweep(ctx context.Context, q SweepQuery) (int, error) {
	c, err := e.open()
	if err != nil {
		return 0, err
	}
	if e.owner != "" {
		q.Owner, q.AllOwners = e.owner, false
	}
	defer c.meter.freed("", true)
	defer c.slots.forget(q.selects)
	const batch = 200
	for total := 0; ; {
		n, err := SweepStore(ctx, c.store, q, batch)
		total += n
		c.swept.Add(int64(n))
		if err != nil || n < batch {
			return total, err
		}
	}
}

// Watch returns a watch of no sessions, of which [Watch.Add] adds some. It is told of
// changes in any process. The caller closes it.
func (e *Engine) Watch(ctx context.Context) (*Watch, error) {
	c, err := e.open()
	if err != nil {
		return nil, err
	}
	return WatchStore(ctx, c.store)
}

// key returns the key of a session that a call names.
func (e *Engine) key(ctx context.Context, id ID, changes bool) (Key, error) {
	if _, err := e.open(); err != nil {
		return Key{}, err
	}
	if id == "" {
		return Key{}, &Error{Code: CodeInvalidSession, Field: "sessionId", Msg: "the session id is empty"}
	}
	if err := checkName("sessionId", string(id), e.limits.Name, CodeInvalidSession); err != nil {
		return Key{}, err
	}
	k := Key{Owner: e.owner, ID: id}
	e.used(ctx, k, changes)
	return k, nil
}

// Stats are numbers of an engine since it was made, and at present, over all owners. They
// name no owner and no session.
type Stats struct {
	CacheSessions int   // sessions in the cache
	CacheBytes    int64 // memory that they take, about
	CacheLimit    int64 // limit of that memory; negative for no cache
	CacheHits     int64 // look-ups that found a session
	CacheMisses   int64 // look-ups that did not

	Waiting    int // changes that wait for a commit
	Committing int // commits that the store has not answered yet
	// Oldest is how long a commit has been under way that others wait for. OldestAlone is the
	// same for those of sessions that another process has locked, which no other waits for.
	Oldest, OldestAlone time.Duration

	QuotaRefused int64 // changes that were refused by the quota
	Swept        int64 // sessions that Sweep deleted
}

// Stats returns numbers for monitoring. They cost nothing but a lock.
func (e *Engine) Stats() (s Stats) {
	if e.core == nil {
		return s
	}
	s.QuotaRefused, s.Swept = e.quotaRefused.Load(), e.swept.Load()
	e.slots.stats(&s)
	e.commits.stats(&s)
	return s
}
