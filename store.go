package sequent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"
)

// An ID names a session among those of one owner: printable characters, at
// most [Limits.Name] of them.
type ID string

// A Key names a session in a store. The same ID under two owners is two
// unrelated sessions. The empty owner is the local user.
type Key struct {
	Owner string `json:"owner,omitempty"`
	ID    ID     `json:"id"`
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

// Unfinished reports whether the session was neither completed nor cancelled.
func (s State) Unfinished() bool { return s == Active || s == Abandoned }

// LabelDemo is the label of sessions that a demonstration recorded. What compares the sessions of
// a person leaves them out.
const LabelDemo = "demo"

// A Header describes a session; its thoughts are in the log.
type Header struct {
	Key
	Epoch      int64             `json:"epoch,omitzero"`     // tells this session from an earlier, deleted one with the same Key; never 0
	Version    int               `json:"version,omitzero"`   // counts changes: 1, 2, 3, …; 0 means that the session does not exist
	Len        int               `json:"thoughts"`           // thoughts in the log
	Branches   int               `json:"branches,omitzero"`  // branches in the log, without the main line
	Revisions  int               `json:"revisions,omitzero"` // thoughts that reconsider another one
	Notes      int               `json:"notes,omitzero"`     // what people have said about thoughts
	Bytes      int64             `json:"bytes,omitzero"`     // of the log, about; it only grows
	State      State             `json:"state"`
	Title      string            `json:"title"`                // first line of the first thought, shortened
	Scope      string            `json:"scope,omitempty"`      // scope of which it is the implicit session; empty if it was begun by ID
	Dialect    string            `json:"dialect,omitempty"`    // dialect that began it, for display; no rule depends on it
	Origin     Origin            `json:"origin,omitzero"`      // where it comes from
	Request    Request           `json:"request,omitzero"`     // of the first thought
	Conclusion string            `json:"conclusion,omitempty"` // the author's conclusion, in dialects that ask for one
	Labels     map[string]string `json:"labels,omitempty"`     // values of one dialect; never modified in place
	Created    time.Time         `json:"created"`              // UTC, to the microsecond, as are the others
	Updated    time.Time         `json:"updated"`
	Expires    time.Time         `json:"expires,omitzero"` // zero means never
	Entries    int               `json:"entries,omitzero"` // entries of the log
	Head       Hash              `json:"head,omitzero"`    // of the last of them; zero if there is none
	Seal       Hash              `json:"seal,omitzero"`    // proves the fields of the header; see Digest
}

// Expired reports whether the session has expired at a time.
func (h *Header) Expired(now time.Time) bool {
	return !h.Expires.IsZero() && !now.Before(h.Expires)
}

// A Position tells how much of a session a reader already has.
type Position struct {
	Epoch   int64
	Version int
	Entries int
	Head    Hash // tells histories of the same length apart
}

// Position returns the position of a reader that has all of h.
func (h *Header) Position() Position {
	return Position{Epoch: h.Epoch, Version: h.Version, Entries: h.Entries, Head: h.Head}
}

// A Store keeps sessions. Package storetest checks implementations.
//
// A store is safe for concurrent use, by several processes where its medium can be shared.
// Errors carry the codes of this package; a store wraps its driver's errors exactly once.
//
// A store can do more: see [Searcher], [Watcher], [Sweeper], [UsageStore], [OwnerStore]
// and [Values]. What it cannot do, an engine does with the methods of Store, slowly.
type Store interface {
	// Load returns the session's header and the entries of its log beyond have, in order,
	// or an error matching ErrNotFound. The entries of the whole log are returned if they
	// do not continue have; see [Header.Continues]. They are what is stored: the caller
	// checks them. The caller must not change what is returned.
	Load(ctx context.Context, k Key, have Position) (Header, []Entry, error)

	// Commit makes a batch of writes of different sessions durable in one step. Each write
	// succeeds or fails independently (Write.Err). If Commit returns an error, none of the
	// batch is stored, unless it is an [Error] that is Uncertain.
	Commit(ctx context.Context, batch []*Write) error

	// Delete removes the session if it has the given epoch; epoch 0 matches any. If there
	// is no such session, the error matches ErrNotFound.
	Delete(ctx context.Context, k Key, epoch int64) error

	// List returns a page of headers.
	List(ctx context.Context, q Query) (Page, error)

	// Close releases the store. Calls under way finish first.
	Close() error
}

// A Searcher is a [Store] that finds thoughts by an index. It finds a thought as soon as the
// thought's commit has returned.
type Searcher interface {
	Search(ctx context.Context, q SearchQuery) (Hits, error)
}

// A Watcher is a [Store] that reports changes.
type Watcher interface {
	// Watch returns a watch of no sessions. It reports the changes of all processes,
	// including those of a header, deletions and sweeps: from the call of Watch.Add on,
	// none is missed. Once changes may have been missed, for example because a connection
	// broke, all sessions are reported. Sessions may be reported that have not changed, but
	// not without end. A store has a [Feed] for this, and looks for the changes of other
	// processes once, however many sessions are watched. The caller closes the watch.
	Watch(ctx context.Context) (*Watch, error)
}

// A Sweeper is a [Store] that deletes many sessions at a time.
type Sweeper interface {
	// Sweep deletes at most limit of the sessions that q selects and returns how many it
	// deleted. It leaves room for writers. A session that has been changed meanwhile, so
	// that q no longer selects it, is kept.
	Sweep(ctx context.Context, q Query, limit int) (int, error)
}

// A UsageStore is a [Store] that counts what owners have.
type UsageStore interface {
	// Usage returns what each owner has of the sessions that q selects, sorted by owner.
	Usage(ctx context.Context, q Query) ([]Usage, error)
}

// An OwnerStore is a [Store] that can give the sessions of an owner to another one.
type OwnerStore interface {
	// RenameOwner gives all sessions of an owner to another one, in one step, and returns
	// how many they are. If the other one has a session with the ID of one of them, the
	// error matches ErrExists, and nothing is changed. Each session gets the seal of its new
	// header; its log stays as it is.
	RenameOwner(ctx context.Context, from, to string) (int, error)
}

// Values is a [Store] that keeps small values beside the sessions, of which they are no part.
type Values interface {
	// PutValue keeps a value under a name until a time. It may remove others whose time has
	// come.
	PutValue(ctx context.Context, name string, value []byte, expires time.Time) error
	// ValuesOf returns the values whose names begin with a prefix, by name, perhaps also some
	// whose time has come.
	ValuesOf(ctx context.Context, prefix string) (map[string][]byte, error)
	// TakeValue removes a value and returns it. Of several calls at a time, in any process,
	// one gets it, and the others nil.
	TakeValue(ctx context.Context, name string) ([]byte, error)
}

// A Write is one atomic step of one session.
type Write struct {
	// Base is the position to which the write applies. A zero Version means that the
	// session must not exist.
	Base Position

	Header  Header  // the header afterwards
	Entries []Entry // what the step adds to the log

	// Rebase adapts the write to the session's current state. The store calls it inside its
	// transaction when the session is not at Base, with the current header (the zero Header
	// if there is no session) and what Load would return for Base. If it returns false, the
	// store writes nothing for this write and reports no error. Rebase does not block.
	//
	// A store that cannot call Rebase inside a transaction calls it outside and retries.
	Rebase func(now Header, tail []Entry) bool

	// Wait makes the store wait for a session that another process has locked. Otherwise
	// it may refuse the write with [ErrLocked], so that others are not held up.
	Wait bool

	// Err is set by the store if this write failed, but not the whole batch. It may be
	// an [Error] that is Uncertain.
	Err error
}

// A Usage is what a store holds for one owner.
type Usage struct {
	Owner    string    `json:"owner"`
	Sessions int       `json:"sessions"`
	Thoughts int       `json:"thoughts"`
	Bytes    int64     `json:"bytes"`            // sum of [Header.Bytes]
	Updated  time.Time `json:"updated,omitzero"` // the latest [Header.Updated]
}

// A Query selects the sessions that meet all conditions, to list, count or delete them. The zero Query selects
// all sessions of the local user. A listing has the most recently updated one first.
type Query struct {
	Owner     string
	AllOwners bool      // ignore Owner
	Scope     string    // only sessions begun in this scope; empty means all
	Project   string    // only sessions of this project and those without one; empty means all
	Elsewhere string    // only sessions of other projects than this one; empty means all
	Since     time.Time // only sessions updated at or after this time; zero means all
	Before    time.Time // only sessions updated before this time; zero means all
	Begun     time.Time // only sessions created at or after this time; zero means all
	Request   Request   // only sessions whose first thought has this request; no Key means all
	Expired   time.Time // only sessions that had expired by this time; zero means all
	ByCreated bool      // newest by creation first, instead of by last update
	Limit     int       // maximum number of sessions on the page; see PageSize
	Cursor    string    // from Page.Next
	Now       time.Time // sessions expired by then are left out; set by the engine
}

// PageSize returns the maximum number of sessions on a page: Limit, or 100 if
// that is not positive.
func (q Query) PageSize() int {
	return cmp.Or(max(q.Limit, 0), 100)
}

// A Page is a part of a listing.
type Page struct {
	Headers []Header
	Next    string // cursor of the next page; empty at the end
}

// selects reports whether q selects a session, on whatever page.
func (q *Query) selects(h *Header) bool {
	return (q.AllOwners || h.Owner == q.Owner) &&
		(q.Scope == "" || h.Scope == q.Scope) &&
		h.Origin.inProject(q.Project) && (q.Elsewhere == "" || !h.Origin.inProject(q.Elsewhere)) &&
		!h.Updated.Before(q.Since) && !h.Created.Before(q.Begun) && (q.Before.IsZero() || h.Updated.Before(q.Before)) &&
		(q.Request.Key == "" || h.Request == q.Request) &&
		(q.Now.IsZero() || !h.Expired(q.Now)) && (q.Expired.IsZero() || h.Expired(q.Expired))
}

// place returns where a session is in a listing: its time in microseconds, and a hash that
// orders sessions of one time and has few digits.
func (q *Query) place(h *Header) [2]int64 {
	at := h.Updated
	if q.ByCreated {
		at = h.Created
	}
	return [2]int64{at.UnixMicro(), int64(h.Topic() >> 11)}
}

// cursor returns the cursor of the page that follows a place. A model repeats it: digits are the
// fewest tokens.
func (q *Query) cursor(place [2]int64) string {
	order := "u"
	if q.ByCreated {
		order = "c"
	}
	return fmt.Sprintf("%s%d.%d", order, place[0], place[1])
}

// Page returns the page that q asks for of the sessions with these headers, newest first. It is
// for stores that have them in memory.
func (q *Query) Page(all iter.Seq[*Header]) (page Page, err error) {
	last := [2]int64{math.MaxInt64}
	if q.Cursor != "" {
		var order rune
		if _, err := fmt.Sscanf(q.Cursor, "%c%d.%d", &order, &last[0], &last[1]); err != nil || q.Cursor != q.cursor(last) {
			return Page{}, InvalidCursor()
		}
	}
	newer := func(a, b [2]int64) int { return slices.Compare(b[:], a[:]) }
	var found []*Header
	for h := range all {
		if q.selects(h) && newer(q.place(h), last) > 0 {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b *Header) int { return newer(q.place(a), q.place(b)) })
	if limit := q.PageSize(); len(found) > limit {
		found = found[:limit]
		page.Next = q.cursor(q.place(found[limit-1]))
	}
	for _, h := range found {
		one := *h
		one.Labels = maps.Clone(h.Labels)
		page.Headers = append(page.Headers, one)
	}
	return page, nil
}

// InvalidCursor returns the error for a cursor that is not one of the listing or search.
func InvalidCursor() error {
	return Errorf(CodeInvalidQuery, "cursor", "pass the cursor of the previous page, or none",
		"the cursor does not belong to this listing")
}
