package sequent

import (
	"context"
	"time"
)

// An ID names a session among those of one owner: printable characters, at
// most [Limits.Name] of them.
type ID string

// A Key names a session in a store. The same ID under two owners is two
// sessions that know nothing of each other. The empty owner is the local user.
type Key struct {
	Owner string
	ID    ID
}

// A State tells whether a session expects more thoughts.
type State string

// The states of a session.
const (
	Active    State = "active"
	Completed State = "completed" // the last thought said that none follows
	Cancelled State = "cancelled"
)

// A Header is what a session is, beside its log.
type Header struct {
	Key
	Epoch      int64 // tells this session from an earlier, deleted one with the same Key; never 0
	Version    int   // counts changes: 1, 2, 3, …; 0 means that the session does not exist
	Len        int   // thoughts in the log
	Branches   int   // branches in the log, without the main line
	State      State
	Title      string            // first line of the first thought, shortened
	Scope      string            // whose implicit session this is; empty if it was begun by ID
	Dialect    string            // where it was begun, for people; rules never depend on it
	Conclusion string            // what the author concluded, where a dialect asks for it
	Labels     map[string]string // what only one dialect means; never modified in place
	Created    time.Time         // UTC, to the microsecond, as are the others
	Updated    time.Time
	Expires    time.Time // zero means never
}

// Expired reports whether the session has outlived its time at now.
func (h *Header) Expired(now time.Time) bool {
	return !h.Expires.IsZero() && !now.Before(h.Expires)
}

// A Position tells how much of a session a reader already has.
type Position struct {
	Epoch   int64
	Version int
	Len     int
}

// Position returns where h stands.
func (h *Header) Position() Position {
	return Position{Epoch: h.Epoch, Version: h.Version, Len: h.Len}
}

// A Store keeps sessions. Package storetest checks implementations.
//
// A store is safe for concurrent use, by several processes where its medium
// can be shared. Errors carry the codes of this package; a store wraps its
// driver's errors exactly once.
type Store interface {
	// Load returns the session's header and the thoughts beyond have, or an
	// error matching ErrNotFound. All thoughts are returned if have.Epoch is
	// not the session's. The caller must not change what is returned.
	Load(ctx context.Context, k Key, have Position) (Header, []Thought, error)

	// Commit makes a batch of writes durable in one step. Each write succeeds
	// or fails by itself (Write.Err), but for an error that is returned: then
	// none of the batch is stored.
	Commit(ctx context.Context, batch []*Write) error

	// Delete removes the session if its epoch is the given one, or whatever
	// its epoch is if that is 0. A missing session is an error matching
	// ErrNotFound.
	Delete(ctx context.Context, k Key, epoch int64) error

	// List returns a page of headers.
	List(ctx context.Context, q Query) (Page, error)

	// Search returns a page of thoughts. A thought is found as soon as the
	// commit that brought it has returned.
	Search(ctx context.Context, q SearchQuery) (Hits, error)

	// Sweep deletes at most limit of the sessions that q selects and returns how
	// many it deleted. It leaves room for writers. A session that has been
	// changed meanwhile, so that q no longer selects it, is kept.
	Sweep(ctx context.Context, q SweepQuery, limit int) (int, error)

	// Wait returns nil when the session has, or may have, left the position
	// have (also by deletion), and an error wrapping ctx.Err() when ctx is done
	// first. For the
	// zero Key it returns when any session may have changed since the call.
	// It may return nil early; the caller looks again.
	Wait(ctx context.Context, k Key, have Position) error

	// Close releases the store. Calls under way finish first.
	Close() error
}

// A Write is one atomic step of one session.
type Write struct {
	// Base is the position the write was made against. A zero Version means
	// that the session must not exist.
	Base Position

	Header   Header    // the header afterwards
	Thoughts []Thought // the thoughts that the step adds: Base.Len+1, …, Header.Len

	// Rebase is called, inside the store's transaction, when the session is
	// not at Base. It gets the session as it is (exists false: there is none)
	// and the thoughts beyond Base, all of them if the epoch differs, and
	// fits the write to that. If it returns false nothing is written for this
	// write, and that is no error. Rebase does not wait for anything.
	//
	// A store that cannot call Rebase inside a transaction calls it outside
	// and tries again.
	Rebase func(now Header, exists bool, tail []Thought) bool

	// Err is set by the store if this write alone failed.
	Err error

	// log has the thoughts as the engine keeps them, from the session's first to
	// Header.Len at least. A store in memory shares it; nil means that it cannot.
	log pages
}

// A SweepQuery selects sessions to delete, those that meet all that it says. The
// zero SweepQuery selects all sessions of the local user.
type SweepQuery struct {
	Owner     string
	AllOwners bool      // ignore Owner
	Expired   time.Time // only those that had expired by this time; zero means all
	Before    time.Time // only those that were last updated before this time; zero means all
}

// selects reports whether q selects a session.
func (q *SweepQuery) selects(h *Header) bool {
	return (q.AllOwners || h.Owner == q.Owner) &&
		(q.Expired.IsZero() || h.Expired(q.Expired)) &&
		(q.Before.IsZero() || h.Updated.Before(q.Before))
}

// A Query selects sessions to list. The zero Query lists all sessions of the
// local user, most recently updated first.
type Query struct {
	Owner     string
	AllOwners bool      // ignore Owner
	Scope     string    // only sessions begun in this scope; empty means all
	Since     time.Time // only sessions updated at or after this time; zero means all
	ByCreated bool      // newest by creation first, instead of by last update
	Limit     int       // maximum number of sessions on the page; see PageSize
	Cursor    string    // from Page.Next
	Now       time.Time // sessions expired by then are left out; set by the engine
}

// PageSize returns the maximum number of sessions on a page: Limit, or 100 if
// that is not positive.
func (q Query) PageSize() int {
	if q.Limit <= 0 {
		return 100
	}
	return q.Limit
}

// A Page is a part of a listing.
type Page struct {
	Headers []Header
	Next    string // cursor of the next page; empty at the end
}
