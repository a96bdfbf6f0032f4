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
	Store  Store            // nil means NewMemoryStore()
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

// open returns what e works with. The zero Engine has a store that refuses everything.
func (e *Engine) open() *core {
	if e.core == nil {
		return New(Config{Store: noStore{}}).core
	}
	return e.core
}

// noStore is the store of the zero Engine.
type noStore struct{ Store }

var errNoStore = error(&Error{Code: CodeInternal, Msg: "the engine is the zero Engine", Fix: "make one with sequent.New"})

func (noStore) Load(context.Context, Key, Position) (Header, []Entry, error) {
	return Header{}, nil, errNoStore
}
func (noStore) Commit(context.Context, []*Write) error    { return errNoStore }
func (noStore) Delete(context.Context, Key, int64) error  { return errNoStore }
func (noStore) List(context.Context, Query) (Page, error) { return Page{}, errNoStore }
func (noStore) Watch(context.Context) (*Watch, error)     { return nil, errNoStore }

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
	c.slots = slots{most: cmp.Or(cfg.CacheBytes, 32<<20), byKey: make(map[Key]*slot)}
	c.commits.store = c.store
	c.meter = meter{quota: cfg.Quota, store: c.store, owners: make(map[string]*used)}
	return &Engine{core: c}
}

// Owned returns the engine as an owner sees it. To an owner the sessions of
// others do not exist: the same ID may be in use by several.
func (e *Engine) Owned(owner string) *Engine { return &Engine{core: e.core, owner: owner} }

// Owner returns the owner whose sessions the engine sees; empty is the local user.
func (e *Engine) Owner() string { return e.owner }

// Limits returns the limits that apply, defaults filled in.
func (e *Engine) Limits() Limits { return e.open().limits }

// Now returns the engine's time.
func (e *Engine) Now() time.Time { return precise(e.open().now()) }

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
	c := e.open()
	err = c.store.Delete(ctx, k, 0)
	c.slots.forget(func(h *Header) bool { return h.Key == k })
	c.meter.freed(k.Owner, false)
	return err
}

// Session returns a session as it is now, in every process.
func (e *Engine) Session(ctx context.Context, id ID) (*Session, error) {
	if _, err := e.key(ctx, id, false); err != nil {
		return nil, err
	}
	return e.Peek(ctx, id)
}

// Peek is [Engine.Session] for a caller that compares sessions and shows nothing of this one: it does not count
// as use; see [Config].
func (e *Engine) Peek(ctx context.Context, id ID) (*Session, error) {
	s, err := e.open().session(ctx, Key{Owner: e.owner, ID: id})
	if err == nil && s.header.Expired(e.Now()) {
		return nil, NotFound(id)
	}
	return s, err
}

// Entries returns a session's header and the entries of its log beyond a position, as
// [Store.Load] does; all for the zero Position.
func (e *Engine) Entries(ctx context.Context, id ID, have Position) (Header, []Entry, error) {
	k, err := e.key(ctx, id, false)
	if err != nil {
		return Header{}, nil, err
	}
	h, entries, err := e.open().store.Load(ctx, k, have)
	if err == nil && h.Expired(e.Now()) {
		return Header{}, nil, NotFound(id)
	}
	return h, entries, err
}

// Sessions lists the sessions that q selects. Only the engine of the local user
// may list those of all owners.
func (e *Engine) Sessions(ctx context.Context, q Query) (Page, error) {
	e.narrow(&q.Owner, &q.AllOwners, &q.Now)
	return e.open().store.List(ctx, q)
}

// AllSessions yields the headers of the sessions that q selects, in the order of
// [Engine.Sessions]. It reads them in pages of q.Limit, or 500 if that is 0. It
// ends after an error.
func (e *Engine) AllSessions(ctx context.Context, q Query) iter.Seq2[Header, error] {
	e.narrow(&q.Owner, &q.AllOwners, &q.Now)
	return headers(ctx, e.open().store, q)
}

// Search finds thoughts by their words; see [SearchQuery], and tells whether they still
// hold. A page can have fewer hits than the store has found, because a thought and those
// that it replaced are one hit. Only the engine of the local user may search the
// sessions of all owners.
func (e *Engine) Search(ctx context.Context, q SearchQuery) (Hits, error) {
	e.narrow(&q.Owner, &q.AllOwners, &q.Now)
	found, err := SearchStore(ctx, e.open().store, q)
	if err == nil {
		found.Hits, err = e.open().appraise(ctx, found.Hits)
	}
	return found, err
}

// narrow makes a query one for the sessions that e may see, now.
func (e *Engine) narrow(owner *string, all *bool, now *time.Time) {
	*owner, *all, *now = e.owner, *all && e.owner == "", e.Now()
}

// Sweep deletes the sessions that q selects, in batches that leave room for writers between
// them, including sessions that begin while it runs. It returns how many it deleted. Only the
// engine of the local user may delete those of others.
func (e *Engine) Sweep(ctx context.Context, q Query) (int, error) {
	c := e.open()
	q.Owner, q.AllOwners = e.owner, q.AllOwners && e.owner == ""
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

// Usage returns what each owner has of the sessions that q selects, sorted by owner, with those that
// have expired and are not deleted yet. Only the engine of the local user sees other owners.
func (e *Engine) Usage(ctx context.Context, q Query) ([]Usage, error) {
	q.Owner, q.AllOwners = e.owner, q.AllOwners && e.owner == ""
	return UsageOf(ctx, e.open().store, q)
}

// Watch returns a watch of no sessions, of which [Watch.Add] adds some. It is told of
// changes in any process. The caller closes it.
func (e *Engine) Watch(ctx context.Context) (*Watch, error) { return WatchStore(ctx, e.open().store) }

// key returns the key of a session that a call names.
func (e *Engine) key(ctx context.Context, id ID, changes bool) (Key, error) {
	if id == "" {
		return Key{}, &Error{Code: CodeInvalidSession, Field: "sessionId", Msg: "the session id is empty"}
	}
	c := e.open()
	if err := checkName("sessionId", string(id), c.limits.Name, CodeInvalidSession); err != nil {
		return Key{}, err
	}
	k := Key{Owner: e.owner, ID: id}
	c.used(ctx, k, changes)
	return k, nil
}

// Stats are numbers of an engine since it was made, and at present, over all owners. They
// name no owner and no session.
type Stats struct {
	CacheSessions int           // sessions in the cache
	CacheBytes    int64         // memory that they take, about
	Waiting       int           // changes that wait for a commit
	Oldest        time.Duration // how long a commit has been under way that others wait for
	QuotaRefused  int64         // changes that were refused by the quota
	Swept         int64         // sessions that Sweep deleted
}

// Stats returns numbers for monitoring. They cost nothing but a lock.
func (e *Engine) Stats() Stats {
	c := e.open()
	s := Stats{QuotaRefused: c.quotaRefused.Load(), Swept: c.swept.Load()}
	c.slots.mu.Lock()
	s.CacheSessions, s.CacheBytes = len(c.slots.byKey), c.slots.bytes
	c.slots.mu.Unlock()
	c.commits.mu.Lock()
	defer c.commits.mu.Unlock()
	s.Waiting = len(c.commits.waiting)
	if !c.commits.running.IsZero() {
		s.Oldest = time.Since(c.commits.running)
	}
	return s
}
