package sequent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
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
	// CacheBytes limits the memory for recently used sessions. The most recent
	// one is kept whatever its size. 0 means 64 MiB; a negative number disables
	// the cache.
	CacheBytes int64
}

// An Engine is the one place where sessions change. It is safe for concurrent
// use. It starts no goroutines, so there is nothing to close but the Store.
//
// An Engine sees the sessions of one owner; see [Engine.Owned].
type Engine struct {
	*core
	owner    string
	textless bool // see WithoutTexts
}

// A core is what engines of different owners share.
type core struct {
	store  Store
	now    func() time.Time
	limits Limits
	ttl    time.Duration
	cache  *cache
	meter  *meter
	queue  queue

	counted counters
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
	c := &core{
		store:  cfg.Store,
		now:    cfg.Now,
		limits: cfg.Limits.orDefaults(),
		ttl:    cfg.TTL,
		cache:  newCache(cmp.Or(cfg.CacheBytes, 64<<20)),
	}
	if c.store == nil {
		c.store = NewMemoryStore()
	}
	c.queue.init(c.store)
	if c.now == nil {
		c.now = time.Now
	}
	c.meter = newMeter(cfg.Quota, c.store)
	return &Engine{core: c}
}

// Owned returns the engine as an owner sees it. To an owner the sessions of
// others do not exist: the same ID may be in use by several.
func (e *Engine) Owned(owner string) *Engine {
	return &Engine{core: e.core, owner: owner, textless: e.textless}
}

// Owner returns the owner whose sessions the engine sees; empty is the local user.
func (e *Engine) Owner() string { return e.owner }

// WithoutTexts returns the engine for callers that do not need the texts of earlier
// thoughts to record another one. The sessions that Begin, Update and Ensure pass to
// change functions and return may lack [Draft.Text] and [Draft.Note] of all thoughts
// but the last of those recorded before the call; see [Session.HasTexts]. All else is
// complete. So the engine remembers about three times as many sessions, and reads
// none of their texts for an append.
//
// The sessions of [Engine.Session] have all texts.
func (e *Engine) WithoutTexts() *Engine {
	if e.core != nil {
		e.cache.dropsTexts.Store(true)
	}
	return &Engine{core: e.core, owner: e.owner, textless: true}
}

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

// Delete removes a session and its log.
func (e *Engine) Delete(ctx context.Context, id ID) error {
	k, err := e.key(id)
	if err != nil {
		return err
	}
	leaveTrail(ctx, k, true)
	err = e.store.Delete(ctx, k, 0)
	e.cache.remove(k)
	e.meter.freed(e.owner)
	return err
}

// Session returns a session as it is now, in every process.
func (e *Engine) Session(ctx context.Context, id ID) (*Session, error) {
	k, err := e.key(id)
	if err != nil {
		return nil, err
	}
	leaveTrail(ctx, k, false)
	s, err := e.load(ctx, k, false)
	if err != nil {
		return nil, err
	}
	if s.header.Expired(e.now()) {
		return nil, notFound(id)
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
	return func(yield func(Header, error) bool) {
		q.Limit = cmp.Or(q.Limit, 500)
		for {
			page, err := e.Sessions(ctx, q)
			if err != nil {
				yield(Header{}, err)
				return
			}
			for _, h := range page.Headers {
				if !yield(h, nil) {
					return
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return
			}
		}
	}
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
	found, err := c.store.Search(ctx, q)
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

// Sweep deletes the expired sessions of all owners, in batches that leave room
// for writers between them, and returns how many it deleted.
func (e *Engine) Sweep(ctx context.Context) (int, error) {
	return e.sweep(ctx, SweepQuery{AllOwners: true, Expired: e.Now()})
}

// SweepUnchanged deletes the sessions of all owners that were last changed
// before a time, whether or not they expire, in batches as Sweep does.
func (e *Engine) SweepUnchanged(ctx context.Context, before time.Time) (int, error) {
	if before.IsZero() {
		return 0, nil // no session is older
	}
	return e.sweep(ctx, SweepQuery{AllOwners: true, Before: before})
}

// DeleteAll deletes all sessions of the engine's owner in batches, as Sweep does,
// including sessions that begin while it runs. It returns how many it deleted.
func (e *Engine) DeleteAll(ctx context.Context) (int, error) {
	return e.sweep(ctx, SweepQuery{Owner: e.owner})
}

func (e *Engine) sweep(ctx context.Context, q SweepQuery) (int, error) {
	c, err := e.open()
	if err != nil {
		return 0, err
	}
	defer c.meter.freedAll()
	defer c.cache.removeSwept(q)
	const batch = 200
	for total := 0; ; {
		n, err := c.store.Sweep(ctx, q, batch)
		total += n
		c.counted.swept.Add(int64(n))
		if err != nil || n < batch {
			return total, err
		}
	}
}

// Follow yields every thought of a session after position seq of its log, then
// waits for new ones from any process until ctx is done. It yields an error and
// ends when the session is deleted, and one with CodeConflict when the store has gone
// back to a state in which the session's log is another one. It ends without one when
// ctx is done. A slow follower does not delay writers and misses nothing.
func (e *Engine) Follow(ctx context.Context, id ID, seq int) iter.Seq2[Thought, error] {
	return func(yield func(Thought, error) bool) {
		if e.core != nil {
			e.counted.followers.Add(1)
			defer e.counted.followers.Add(-1)
		}
		if err := e.follow(ctx, id, seq, yield); err != nil && ctx.Err() == nil {
			yield(Thought{}, err)
		}
	}
}

// follow returns nil when yield returns false.
func (e *Engine) follow(ctx context.Context, id ID, seq int, yield func(Thought, error) bool) error {
	k, err := e.key(id)
	if err != nil {
		return err
	}
	w, err := e.store.Watch(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	w.Add(k)
	var last Thought
	for epoch := int64(0); ; {
		s, err := e.Session(ctx, id)
		if err == nil && epoch != 0 && s.Epoch() != epoch {
			err = notFound(id) // deleted and begun again
		}
		if err != nil {
			return err
		}
		if t, ok := s.At(last.Seq); last.Seq > 0 && !(ok && t.At.Equal(last.At) && sameThought(t, last)) {
			return &Error{
				Code: CodeConflict, Field: "sessionId",
				Msg: fmt.Sprintf("the session %q is no longer what it was: its store has gone back to an earlier state", id),
				Fix: "read it again from the beginning",
			}
		}
		epoch = s.Epoch()
		for t := range s.Since(seq) {
			if !yield(t, nil) {
				return nil
			}
			seq, last = t.Seq, t
		}
		if _, err := w.Wait(ctx); err != nil {
			return err
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
	return c.store.Watch(ctx)
}

// Position returns the position of a session. It reads no more of the log than what a
// reader at have lacks, so that it costs little to see that nothing has changed.
func (e *Engine) Position(ctx context.Context, id ID, have Position) (Position, error) {
	h, _, err := e.EntriesAfter(ctx, id, have, 1)
	return h.Position(), err
}

func (e *Engine) key(id ID) (Key, error) {
	if _, err := e.open(); err != nil {
		return Key{}, err
	}
	if id == "" {
		return Key{}, &Error{Code: CodeInvalidSession, Field: "sessionId", Msg: "the session id is empty"}
	}
	if err := checkName("sessionId", string(id), e.limits.Name, CodeInvalidSession); err != nil {
		return Key{}, err
	}
	return Key{Owner: e.owner, ID: id}, nil
}
