package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/audit"
)

// Limits of links. Quotas do not count links.
const (
	DefaultLifetime = 7 * 24 * time.Hour
	MaxLifetime     = 365 * 24 * time.Hour
	maxLinks        = 100 // of a session at a time
)

const (
	// linkCookie is the name of the cookie that holds the secret of a link. Its path is that
	// of the link's documents, so that a browser sends it with requests for those only.
	linkCookie = "__Secure-sequent-link"
	// linkedPath is the path of what links lead to. No other path reads the cookie.
	linkedPath = APIPrefix + "v1/linked/"
	// linkPage is the page that a link leads to. The secret is in its fragment.
	linkPage = PagesPrefix + "link"
)

// A Link gives read access to one session to any client that has its secret. It is a value of the
// store, and ends with its session: a link whose session is gone is removed when it is used. The
// value's name has the SHA-256 of the link's secret in hexadecimal, of which the first digits are
// the link's id.
type Link struct {
	ID      string    `json:"id"` // names the link and does not open it
	Session string    `json:"session"`
	Epoch   int64     `json:"epoch"` // of the session
	Owner   string    `json:"owner,omitempty"`
	Token   string    `json:"token,omitempty"` // with which it was made: its id in a file, or its issuer
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Ended   bool      `json:"ended,omitempty"` // with its token
	Path    string    `json:"path,omitempty"`  // of the link, with its secret; of a new one only
	URL     string    `json:"url,omitempty"`   // the whole link, if the server knows its public URL

	name string // of the value
}

func (l *Link) key() sequent.Key { return sequent.Key{Owner: l.Owner, ID: sequent.ID(l.Session)} }

const (
	linkPrefix = "link/"
	idDigits   = 16
)

// hashed returns the name of the value that belongs to a secret.
func hashed(prefix, secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return prefix + hex.EncodeToString(sum[:])
}

// errOver refuses a link that is not valid. It does not say why, nor whether it ever was.
var errOver = &Refusal{
	Status: http.StatusUnauthorized, Code: "link_over",
	Message: "this link does not work, or not any more", Fix: "ask the sender for a new one",
}

// links reports whether links can be made here.
func (h *Handler) links() bool { return h.config.Key == nil }

var errNoValues = sequent.Errorf(sequent.CodeReadOnly, "", "use SQLite or PostgreSQL", "the store cannot keep links and codes")

// kept returns a method that needs a store that keeps links and codes.
func kept(f method) method {
	return func(x *exchange) error {
		if x.h.values == nil {
			return errNoValues
		}
		return f(x)
	}
}

// findLinks returns the links whose names begin with a prefix, that selects selects, and that have
// neither expired nor been revoked, the latest first.
func (h *Handler) findLinks(ctx context.Context, prefix string, selects func(*Link) bool) ([]Link, error) {
	found, err := h.values.ValuesOf(ctx, prefix)
	list := []Link{}
	for name, value := range found {
		l := Link{name: name}
		if err := json.Unmarshal(value, &l); err != nil {
			return nil, fmt.Errorf("the value %q of the store is not a link: %w", name, err)
		}
		if l.Expires.After(h.config.Now()) && selects(&l) {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b Link) int { return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.name, b.name)) })
	return list, err
}

// dropLink removes a link.
func (h *Handler) dropLink(ctx context.Context, l *Link) error {
	_, err := h.values.TakeValue(ctx, l.name)
	return err
}

type linkBody struct {
	ID      string `json:"id"`
	Seconds int64  `json:"seconds"` // lifetime; 0 means seven days
}

// makeLink makes a link. Its secret is stored nowhere.
func (x *exchange) makeLink(in linkBody) error {
	if err := x.needOwn("links are made"); err != nil {
		return err
	}
	if in.Seconds < 0 || in.Seconds > int64(MaxLifetime/time.Second) {
		return invalid("seconds", "must be a number of seconds, at most those of 365 days")
	}
	ctx, now := x.r.Context(), x.h.config.Now().UTC().Truncate(time.Microsecond)
	until, err := x.until(ctx, x.granted.Token, now)
	if err != nil {
		return err
	}
	expires := now.Add(cmp.Or(time.Duration(in.Seconds)*time.Second, DefaultLifetime))
	if until.Before(expires) {
		expires = until
	}
	s, err := x.engine.Session(ctx, sequent.ID(in.ID))
	if err != nil {
		return err
	}
	have, err := x.h.findLinks(ctx, linkPrefix, func(l *Link) bool { return l.key() == s.Key() })
	if err != nil {
		return err
	}
	if len(have) >= maxLinks {
		return sequent.Errorf(sequent.CodeLimitExceeded, "sessionId", "revoke one, or wait until one expires",
			"the session has %d links, and may not have more", len(have))
	}
	secret := rand.Text() + rand.Text() // 260 bits
	name := hashed(linkPrefix, secret)
	l := Link{ID: name[len(linkPrefix):][:idDigits], Session: in.ID, Epoch: s.Epoch(), Owner: s.Owner(),
		Token: x.granted.Token, Created: now, Expires: expires}
	value, err := json.Marshal(l)
	if err == nil {
		err = x.h.values.PutValue(ctx, name, value, l.Expires)
	}
	if err != nil {
		return err
	}
	audit.Used(ctx, l.key(), true)
	x.linkID, l.Path = l.ID, linkPage+"#"+secret
	if x.h.config.PublicURL != "" {
		l.URL = x.h.config.PublicURL + l.Path
	}
	return x.reply(l)
}

// listLinks lists links, of a session or of all sessions of the owner, or of all owners.
func (x *exchange) listLinks() error {
	query := x.r.URL.Query()
	all, id := query.Get("all") != "", query.Get("id")
	if all {
		if _, err := x.engineOf("", true); err != nil {
			return err
		}
	}
	list, err := x.h.findLinks(x.r.Context(), linkPrefix, func(l *Link) bool {
		return (all || l.Owner == x.engine.Owner()) && (id == "" || l.Session == id)
	})
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Ended = errors.Is(x.made(x.r.Context(), &list[i]), errOver)
	}
	return x.reply(map[string][]Link{"links": list})
}

// revokeLink revokes a link of the owner, and for an administrator one of any owner.
func (x *exchange) revokeLink() error {
	if err := x.need(auth.Write); err != nil {
		return err
	}
	id := x.r.PathValue("link")
	found, err := x.h.findLinks(x.r.Context(), linkPrefix+id, func(l *Link) bool {
		return l.ID == id && (x.granted.Scope >= auth.Admin || l.Owner == x.engine.Owner())
	})
	if err == nil && len(found) == 0 {
		err = sequent.Errorf(sequent.CodeSessionNotFound, "link", "run sequent server link list", "there is no link %q", id)
	}
	if err == nil {
		err = x.h.dropLink(x.r.Context(), &found[0])
	}
	if err != nil {
		return err
	}
	x.linkID = id
	audit.Used(x.r.Context(), found[0].key(), true)
	return x.reply(found[0])
}

type secretBody struct {
	Secret string `json:"secret"`
}

// openLink exchanges the secret of a link for a cookie that scripts cannot read. The secret
// comes in the body, so that no log of URLs has it.
func (x *exchange) openLink(in secretBody) error {
	l, err := x.lookUp(x.r.Context(), hashed(linkPrefix, in.Secret))
	if err != nil {
		return err
	}
	x.linkID = l.ID
	if _, err := x.sessionOf(x.r.Context(), l); err != nil {
		return err
	}
	http.SetCookie(x.w, &http.Cookie{
		Name: linkCookie, Value: in.Secret, Path: linkedPath + l.ID,
		MaxAge: max(1, int(l.Expires.Sub(x.h.config.Now())/time.Second)),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	return x.reply(map[string]any{"link": l.ID, "expires": l.Expires})
}

// admitLink admits a request that has the cookie of the link in the path.
func (x *exchange) admitLink() error {
	if err := x.admitAny(); err != nil {
		return err
	}
	c, err := x.r.Cookie(linkCookie)
	if err != nil || hashed("", c.Value)[:idDigits] != x.r.PathValue("link") {
		return errOver
	}
	if x.linked, err = x.lookUp(x.r.Context(), hashed(linkPrefix, c.Value)); err != nil {
		return err
	}
	x.linkID, x.engine = x.linked.ID, x.h.config.Engine.Owned(x.linked.Owner)
	return nil
}

// stillLinked returns errOver if the link of an open stream has ended. One that cannot be looked up now
// is as it was, until it expires.
func (x *exchange) stillLinked(ctx context.Context) error {
	if _, err := x.lookUp(ctx, x.linked.name); errors.Is(err, errOver) || !x.linked.Expires.After(x.h.config.Now()) {
		return errOver
	}
	return nil
}

// lookUp returns the link whose value has a name. A link that has ended, in whatever way, is errOver.
// Whether its session still exists is seen when the session is read.
func (x *exchange) lookUp(ctx context.Context, name string) (*Link, error) {
	found, err := x.h.findLinks(ctx, name, func(*Link) bool { return true })
	if err == nil && len(found) == 0 {
		err = errOver
	}
	if err == nil {
		err = x.made(ctx, &found[0])
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// sessionOf returns the session of a link. A link whose session is gone ends.
func (x *exchange) sessionOf(ctx context.Context, l *Link) (*sequent.Session, error) {
	s, err := x.h.config.Engine.Owned(l.Owner).Session(ctx, sequent.ID(l.Session))
	if errors.Is(err, sequent.ErrNotFound) || err == nil && s.Epoch() != l.Epoch {
		return nil, cmp.Or(x.h.dropLink(ctx, l), error(errOver))
	}
	return s, err
}

// made returns an error if the token with which a link was made has ended.
func (x *exchange) made(ctx context.Context, l *Link) error {
	until, err := x.until(ctx, l.Token, l.Created)
	if err == nil && !until.After(x.h.config.Now()) {
		return errOver
	}
	return err
}

// until returns until when a link counts that was made at a time, with a token that id names; see
// [auth.Guarantor]. A token that has ended is errOver. A server without tokens takes links that were
// made without one.
func (x *exchange) until(ctx context.Context, id string, made time.Time) (until time.Time, err error) {
	if x.h.config.Auth != nil {
		until, err = x.h.config.Auth.Until(ctx, id, made)
	} else if id != "" {
		err = errOver
	}
	if _, invalid := errors.AsType[*auth.InvalidError](err); invalid {
		err = errOver
	}
	if err != nil && !errors.Is(err, errOver) {
		x.h.config.Logger.Log(ctx, admission.FailureLevel(x.r), "who has made a link cannot be told", "error", err)
		err = errNoWho
	}
	return cmp.Or(until, made.Add(MaxLifetime+time.Second)), err // after the end of any link
}
