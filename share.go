package sequent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Lifetimes of shares.
const (
	DefaultShare = 7 * 24 * time.Hour
	MaxShare     = 365 * 24 * time.Hour
)

// MaxShares is how many shares a session has at a time. Quotas do not count them.
const MaxShares = 100

// maxMask is the maximum number of bytes of Share.Mask.
const maxMask = 16 << 10

// A Share lets whoever has its secret read one session until it expires or is revoked. Stores
// keep shares beside the session's log, of which they are no part: a share ends with its
// session, and is neither exported nor copied.
type Share struct {
	Key     Key       // of the session
	Hash    [32]byte  // SHA-256 of the secret
	Created time.Time // in microseconds
	Expires time.Time // in microseconds
	By      string    // who has made it; may be empty
	Mask    string    // what is masked in the session's texts, for the program that shows them; empty means nothing
}

// ID names the share and does not reveal the secret: the first 16 digits of Hash.
func (s Share) ID() string { return hex.EncodeToString(s.Hash[:8]) }

// CompareShares orders shares as [ShareStore.Shares] returns them.
func CompareShares(a, b Share) int {
	return cmp.Or(b.Created.Compare(a.Created), bytes.Compare(a.Hash[:], b.Hash[:]))
}

// A ShareQuery selects shares of sessions.
type ShareQuery struct {
	Owner     string
	AllOwners bool      // of all owners instead of Owner
	Session   ID        // of one session only; empty means all
	Now       time.Time // leaves out those that have expired by then
}

// A ShareStore is a [Store] that keeps shares and tickets. The shares of a session that does not
// exist any more do not exist either. Its errors are those of a Store.
type ShareStore interface {
	Store
	// AddShare adds a share, and removes those that have expired at s.Created, at least of the
	// same owner. If there is no such session, the error matches [ErrNotFound].
	AddShare(ctx context.Context, s Share) error
	// Shares returns the shares that q selects, the latest first; see [CompareShares].
	Shares(ctx context.Context, q ShareQuery) ([]Share, error)
	// FindShare returns the share with a hash, expired or not. If there is none, the error
	// matches [ErrNotFound].
	FindShare(ctx context.Context, hash [32]byte) (Share, error)
	// RemoveShare removes a share, if it exists. It uses s.Key.Owner and s.Hash only.
	RemoveShare(ctx context.Context, s Share) error
	// AddTicket adds a ticket, and removes those that have expired at t.Created, at least those
	// that are kept beside it.
	AddTicket(ctx context.Context, t Ticket) error
	// TakeTicket removes the ticket with a hash and returns it, expired or not. Of several calls
	// at a time, in any process, one succeeds. If there is none, the error matches [ErrNotFound].
	TakeTicket(ctx context.Context, hash [32]byte) (Ticket, error)
}

// shares returns the store that keeps shares.
func (e *Engine) shares() (ShareStore, error) {
	c, err := e.open()
	if err != nil {
		return nil, err
	}
	s, ok := c.store.(ShareStore)
	if !ok {
		return nil, &Error{Code: CodeReadOnly, Msg: "the store cannot keep shares", Fix: "use SQLite or PostgreSQL"}
	}
	return s, nil
}

// A ShareConfig configures a share.
type ShareConfig struct {
	Lifetime time.Duration // at most MaxShare; 0 means DefaultShare
	By       string        // who makes it; may be empty
	Mask     string        // see Share
}

// Share makes a share of a session. The secret is stored nowhere. A session with [MaxShares] shares
// is refused with CodeLimitExceeded.
func (e *Engine) Share(ctx context.Context, id ID, cfg ShareConfig) (secret string, s Share, err error) {
	store, err := e.shares()
	if err != nil {
		return "", Share{}, err
	}
	lifetime := cmp.Or(cfg.Lifetime, DefaultShare)
	if lifetime < time.Second || lifetime > MaxShare {
		return "", Share{}, &Error{
			Code: CodeInvalidQuery, Field: "expires", Msg: fmt.Sprintf("a link lasts for a second at least and %d days at most", MaxShare/(24*time.Hour)),
			Fix: "choose a shorter time, such as 7d",
		}
	}
	if len(cfg.Mask) > maxMask {
		return "", Share{}, &Error{
			Code: CodeLimitExceeded, Field: "redact", Msg: fmt.Sprintf("what a link masks is described in at most %d bytes", maxMask),
			Fix: "use fewer or shorter expressions",
		}
	}
	if _, err := e.Session(ctx, id); err != nil { // one that has expired is not there
		return "", Share{}, err
	}
	list, err := e.Shares(ctx, ShareQuery{Session: id})
	if err != nil {
		return "", Share{}, err
	}
	if len(list) >= MaxShares {
		return "", Share{}, &Error{
			Code: CodeLimitExceeded, Field: "sessionId", Msg: fmt.Sprintf("the session %q has %d links, and may not have more", id, len(list)),
			Fix: "revoke one, or wait until one expires",
		}
	}
	secret = rand.Text() + rand.Text() // 260 bits
	s = Share{Key: Key{Owner: e.owner, ID: id}, Hash: sha256.Sum256([]byte(secret)), Created: e.Now(), By: clean(cfg.By), Mask: cfg.Mask}
	s.Expires = s.Created.Add(lifetime)
	leaveTrail(ctx, s.Key, true)
	return secret, s, store.AddShare(ctx, s)
}

// Shares returns the shares that q selects, the latest first. Only the engine of the local user
// may list those of all owners.
func (e *Engine) Shares(ctx context.Context, q ShareQuery) ([]Share, error) {
	store, err := e.shares()
	if err != nil {
		return nil, err
	}
	q.Owner, q.Now = e.owner, e.Now()
	q.AllOwners = q.AllOwners && e.owner == ""
	return store.Shares(ctx, q)
}

// Unshare revokes the share with an id, and returns it. With AllOwners in q it may be one of
// any owner, as in [Engine.Shares].
func (e *Engine) Unshare(ctx context.Context, id string, q ShareQuery) (Share, error) {
	list, err := e.Shares(ctx, q)
	if err != nil {
		return Share{}, err
	}
	i := slices.IndexFunc(list, func(s Share) bool { return s.ID() == id })
	if i < 0 {
		return Share{}, &Error{Code: CodeSessionNotFound, Field: "share", Msg: fmt.Sprintf("there is no shared link %q", id), Fix: "run sequent share list"}
	}
	leaveTrail(ctx, list[i].Key, true)
	store, err := e.shares()
	if err != nil {
		return Share{}, err
	}
	return list[i], store.RemoveShare(ctx, list[i])
}

// Shared returns the share with a secret, of any owner. If there is none, if it was revoked or
// has expired, the error matches [ErrNotFound].
func (e *Engine) Shared(ctx context.Context, secret string) (Share, error) {
	store, err := e.shares()
	if err != nil {
		return Share{}, err
	}
	s, err := store.FindShare(ctx, sha256.Sum256([]byte(secret)))
	if err == nil {
		leaveTrail(ctx, s.Key, false)
	}
	if err == nil && !s.Expires.After(e.Now()) {
		err = NoShare()
	}
	return s, err
}

// NoShare returns the error of a store for a share that does not exist.
func NoShare() error {
	return &Error{Code: CodeSessionNotFound, Field: "share", Msg: "this link is not valid, or not any more", Fix: "ask for a new link"}
}
