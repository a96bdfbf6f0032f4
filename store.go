package sequent

import (
	"context"
	"time"
)

// An ID names a session among those of one owner: printable characters, at
// most [Limits.Name] of them.
type ID string

// A Key names a session in a store. The same ID under two owners is two
// unrelated sessions. The empty owner is the local user.
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

// A Header describes a session; its thoughts are in the log.
type Header struct {
	Key
	Epoch      int64 // tells this session from an earlier, deleted one with the same Key; never 0
	Version    int   // counts changes: 1, 2, 3, …; 0 means that the session does not exist
	Len        int   // thoughts in the log
	Branches   int   // branches in the log, without the main line
	State      State
	Title      string            // first line of the first thought, shortened
	Scope      string            // scope of which it is the implicit session; empty if it was begun by ID
	Dialect    string            // dialect that began it, for display; no rule depends on it
	Conclusion string            // the author's conclusion, in dialects that ask for one
	Labels     map[string]string // values of one dialect; never modified in place
	Created    time.Time         // UTC, to the microsecond, as are the others
	Updated    time.Time
	Expires    time.Time // zero means never
}

// Expired reports whether the session has expired at a time.
func (h *Header) Expired(now time.Time) bool {
	return !h.Expires.IsZero() && !now.Before(h.Expires)
}

// A Position tells how much of a session a reader already has.
type Position struct {
	Epoch   int64
	Version int
	Len     int
}

// Position returns the position of a reader that has all of h.
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
	// or fails independently (Write.Err). If Commit returns an error, none of
	// the batch is stored.
	Commit(ctx context.Context, batch []*Write) error

	// Delete removes the session if it has the given epoch; epoch 0 matches
	// any. If there is no such session, the error matches ErrNotFound.
	Delete(ctx context.Context, k Key, epoch int64) error

	// List returns a page of headers.
	List(ctx context.Context, q Query) (Page, error)

	// Search returns a page of thoughts. It finds a thought as soon as the
	// thought's commit has returned.
	Search(ctx context.Context, q SearchQuery) (Hits, error)

	// Sweep deletes at most limit of the sessions that q selects and returns how
	// many it deleted. It leaves room for writers. A session that has been
	// changed meanwhile, so that q no longer selects it, is kept.
	Sweep(ctx context.Context, q SweepQuery, limit int) (int, error)

	// Wait returns nil when the session has left the position have, also by
	// deletion, and an error wrapping ctx.Err() when ctx is done first. With
	// the zero Key it returns when any session may have changed since the call.
	// It may return nil early; the caller reads again.
	Wait(ctx context.Context, k Key, have Position) error

	// Close releases the store. Calls under way finish first.
	Close() error
}

// A Write is one atomic step of one session.
type Write struct {
	// Base is the position to which the write applies. A zero Version means
	// that the session must not exist.
	Base Position

	Header   Header    // the header afterwards
	Thoughts []Thought // the thoughts that the step adds: Base.Len+1, …, Header.Len

	// Rebase adapts the write to the session's current state. The store calls
	// it inside its transaction when the session is not at Base, with the
	// current header (exists is false if there is no session) and the thoughts
	// beyond Base, or all thoughts if the epoch differs. If it returns false,
	// the store writes nothing for this write and reports no error. Rebase does
	// not block.
	//
	// A store that cannot call Rebase inside a transaction calls it outside
	// and retries.
	Rebase func(now Header, exists bool, tail []Thought) bool

	// Err is set by the store if this write alone failed.
	Err error

	// log has the thoughts as the engine keeps them, from the first to at least
	// Header.Len. The memory store shares it. It is nil if it cannot be shared.
	log pages
}

// A SweepQuery selects the sessions to delete: those that meet all conditions.
// The zero SweepQuery selects all sessions of the local user.
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
