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
	Abandoned State = "abandoned" // left open when its scope's next session began
)

// LabelDemo is the label of sessions that a demonstration recorded. Lists for people
// leave them out while there are others.
const LabelDemo = "demo"

// A Header describes a session; its thoughts are in the log.
type Header struct {
	Key
	Epoch      int64 // tells this session from an earlier, deleted one with the same Key; never 0
	Version    int   // counts changes: 1, 2, 3, …; 0 means that the session does not exist
	Len        int   // thoughts in the log
	Branches   int   // branches in the log, without the main line
	Bytes      int64 // of the log, about; it only grows
	State      State
	Title      string            // first line of the first thought, shortened
	Scope      string            // scope of which it is the implicit session; empty if it was begun by ID
	Dialect    string            // dialect that began it, for display; no rule depends on it
	Context    Context           // where it comes from
	Conclusion string            // the author's conclusion, in dialects that ask for one
	Labels     map[string]string // values of one dialect; never modified in place
	Created    time.Time         // UTC, to the microsecond, as are the others
	Updated    time.Time
	Expires    time.Time // zero means never
	Entries    int       // entries of the log with proof; see Entry
	Head       Hash      // of the last of them; zero if there is none
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
	Entries int
	Head    Hash // tells histories of the same length apart
}

// Position returns the position of a reader that has all of h.
func (h *Header) Position() Position {
	return Position{Epoch: h.Epoch, Version: h.Version, Len: h.Len, Entries: h.Entries, Head: h.Head}
}

// A Store keeps sessions. Package storetest checks implementations.
//
// A store is safe for concurrent use, by several processes where its medium
// can be shared. Errors carry the codes of this package; a store wraps its
// driver's errors exactly once.
type Store interface {
	// Load returns the session's header and the entries of its log beyond have,
	// in order, or an error matching ErrNotFound. The entries of the whole log are
	// returned if they do not continue have; see [Header.Continues]. If entries are
	// missing, the error has the code CodeCorrupt, and those that exist are returned
	// with it. The caller must not change what is returned.
	//
	// If limit is positive and more entries than that are to be returned, Load may
	// return about limit of them, from the first on. The caller goes on from
	// [Position.After].
	Load(ctx context.Context, k Key, have Position, limit int) (Header, []Entry, error)

	// Commit makes a batch of writes durable in one step. Each write succeeds
	// or fails independently (Write.Err). If Commit returns an error, none of
	// the batch is stored, unless it is an [Error] that is Uncertain.
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

	// Usage returns what is stored for the owners that q selects and that have
	// sessions or refusals, sorted by owner.
	Usage(ctx context.Context, q UsageQuery) ([]Usage, error)

	// AddRefused adds to the refusals of an owner that Usage returns.
	AddRefused(ctx context.Context, owner string, n int64) error

	// Watch returns a watch of no sessions. It reports the changes of all
	// processes, including those of a header, deletions and sweeps: from the call
	// of Watch.Add on, none is missed. Once changes may have been missed, for
	// example because a connection broke, all sessions are reported. Sessions may
	// be reported that have not changed, but not without end. A store has a [Feed]
	// for this, and looks for the changes of other processes once, however many
	// sessions are watched. The caller closes the watch.
	Watch(ctx context.Context) (*Watch, error)

	// Close releases the store. Calls under way finish first.
	Close() error
}

// A Write is one atomic step of one session.
type Write struct {
	// Base is the position to which the write applies. A zero Version means
	// that the session must not exist.
	Base Position

	Header  Header  // the header afterwards
	Entries []Entry // what the step adds to the log; thoughts are Base.Len+1, …, Header.Len

	// Rebase adapts the write to the session's current state. The store calls
	// it inside its transaction when the session is not at Base, with the
	// current header (exists is false if there is no session) and what Load
	// would return for Base without a limit. If it returns false, the store writes nothing for
	// this write and reports no error. Rebase does not block.
	//
	// A store that cannot call Rebase inside a transaction calls it outside
	// and retries.
	Rebase func(now Header, exists bool, tail []Entry) bool

	// Err is set by the store if this write failed, but not the whole batch. It may be
	// an [Error] that is Uncertain.
	Err error

	// Try lets the store skip the write instead of waiting for a session that
	// another process has locked, or calling Rebase. The engine sets it for a store
	// with a method Lanes() int, which commits several batches at a time, and
	// commits a skipped write again without Try, while other batches proceed.
	Try bool

	// Skipped is set by the store if it skipped the write because of Try.
	Skipped bool

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
	Project   string    // only sessions of this project and those without one; empty means all
	Elsewhere string    // only sessions of other projects than this one; empty means all
	Since     time.Time // only sessions updated at or after this time; zero means all
	Begun     time.Time // only sessions created at or after this time; zero means all
	Request   Request   // only sessions whose first thought has this request; no Key means all
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
