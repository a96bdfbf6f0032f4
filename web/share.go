package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/redact"
)

const (
	// shareCookie is the name of the cookie that holds the secret of a share. Its path is that
	// of the share's documents, so that a browser sends it with requests for those only.
	shareCookie = "__Secure-sequent-share"
	// sharedPath is the path of what shares give access to. Nothing else looks at the cookie.
	sharedPath = APIPrefix + "v1/shared/"
	// sharePage is the page that a link leads to. The secret is in its fragment.
	sharePage = PagesPrefix + "share"
	// shareInterval is how often an open stream looks whether its share was revoked.
	shareInterval = 500 * time.Millisecond
)

// errOver refuses a link that is not valid. It does not say why, nor whether it ever was.
var errOver = &Refusal{
	Status: http.StatusUnauthorized, Code: "share_over", Message: "this link does not work, or not any more",
	Fix: "ask whoever sent it for a new one",
}

// A Share is a link to a session, as its owner sees it.
type Share struct {
	ID      string    `json:"id"` // names the link and does not open it
	Session string    `json:"session"`
	Owner   string    `json:"owner,omitempty"`
	By      string    `json:"by,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Masked  bool      `json:"masked,omitempty"` // texts are masked; which is not told, since an expression may be one
	Path    string    `json:"path,omitempty"`   // of the link, with its secret; of a new one only
	URL     string    `json:"url,omitempty"`    // the whole link, if the server knows its public URL
}

func newShare(s sequent.Share) Share {
	return Share{ID: s.ID(), Session: string(s.Key.ID), Owner: s.Key.Owner, By: s.By, Created: s.Created, Expires: s.Expires, Masked: s.Mask != ""}
}

// shares reports whether links can be made here.
func (h *Handler) shares() bool { return h.config.Key == nil && !h.config.ReadOnly }

// routeShares registers what makes links, and what they lead to.
func (h *Handler) routeShares(open, owned func(pattern string, f func(*visit) error)) {
	if !h.shares() {
		return
	}
	owned("POST /api/v1/shares", (*visit).share)
	owned("GET /api/v1/shares", (*visit).listShares)
	owned("DELETE /api/v1/shares/{share}", (*visit).unshare)
	open("POST /api/v1/shared", (*visit).openShare)
	all := documents()
	for _, name := range []string{"session", "outline", "thoughts", "chain", "tree"} {
		d := all[name]
		open("GET "+sharedPath+"{share}/"+name, func(v *visit) error { return v.readShared("web shared "+name, d) })
	}
	open("GET "+sharedPath+"{share}/events", func(v *visit) error {
		if err := v.admitShare(); err != nil {
			return err
		}
		return v.stream(v.follow)
	})
}

// share makes a link.
func (v *visit) share() error {
	if err := v.need(auth.Write); err != nil {
		return err
	}
	if v.h.config.Auth != nil && v.engine.Owner() != v.granted.Subject {
		return &Refusal{Status: http.StatusForbidden, Code: "insufficient_scope", Message: "links are made for sessions of one's own", Fix: "ask their owner for a link"}
	}
	var in struct {
		ID      string `json:"id"`
		Seconds int64  `json:"seconds"` // lifetime; 0 means seven days
		masking
	}
	if err := v.body(&in); err != nil {
		return err
	}
	if in.Seconds < 0 || in.Seconds > int64(sequent.MaxShare/time.Second) {
		return invalid("seconds", "must be a number of seconds, at most those of 365 days")
	}
	if err := v.canMask(sequent.ID(in.ID), &in.masking); err != nil {
		return err
	}
	secret, s, err := v.engine.Share(v.r.Context(), sequent.ID(in.ID), sequent.ShareConfig{
		Lifetime: time.Duration(in.Seconds) * time.Second, By: v.granted.Subject, Mask: in.text(),
	})
	if err != nil {
		return err
	}
	v.shareID = s.ID()
	made := newShare(s)
	made.Path = sharePage + "#" + secret
	if v.h.config.PublicURL != "" {
		made.URL = v.h.config.PublicURL + made.Path
	}
	return v.reply(made)
}

// canMask refuses expressions that are invalid, or match what cannot be masked in the session now.
func (v *visit) canMask(id sequent.ID, m *masking) error {
	patterns, err := m.patterns()
	if err != nil || len(patterns) == 0 {
		return err
	}
	done, err := v.heavy()
	if err != nil {
		return err
	}
	defer done()
	h, entries, err := v.engine.Entries(v.r.Context(), id)
	if err != nil {
		return err
	}
	if _, _, _, err := redact.Session(h, entries, patterns); err != nil {
		return unmaskable(err)
	}
	return nil
}

// listShares lists links, of a session or of all sessions of the owner, or of all owners.
func (v *visit) listShares() error {
	query := v.r.URL.Query()
	e, q := v.engine, sequent.ShareQuery{Session: sequent.ID(query.Get("id"))}
	if query.Get("all") != "" {
		var err error
		if e, err = v.engineOf("", true); err != nil {
			return err
		}
		q.AllOwners = true
	}
	found, err := e.Shares(v.r.Context(), q)
	if err != nil {
		return err
	}
	list := make([]Share, len(found))
	for i := range found {
		list[i] = newShare(found[i])
	}
	return v.reply(struct {
		Shares []Share `json:"shares"`
	}{list})
}

// unshare revokes a link of the owner, and for an administrator one of any owner.
func (v *visit) unshare() error {
	if err := v.need(auth.Write); err != nil {
		return err
	}
	id := v.r.PathValue("share")
	e, q := v.engine, sequent.ShareQuery{}
	if v.granted.Scope >= auth.Admin {
		e, q.AllOwners = v.h.config.Engine, true
	}
	s, err := e.Unshare(v.r.Context(), id, q)
	if err != nil {
		return err
	}
	v.shareID = s.ID()
	return v.reply(newShare(s))
}

// openShare exchanges the secret of a link for a cookie that scripts cannot read. The secret
// comes in the body, so that no log of URLs has it.
func (v *visit) openShare() error {
	v.identify(v.h.config.Gate.Address(v.r))
	if err := v.limit(); err != nil { // guesses are limited too
		return err
	}
	var in struct {
		Secret string `json:"secret"`
	}
	if err := v.body(&in); err != nil {
		return err
	}
	s, err := v.h.config.Engine.Shared(v.r.Context(), in.Secret)
	if errors.Is(err, sequent.ErrNotFound) {
		return errOver
	}
	if err != nil {
		return err
	}
	v.shareID = s.ID()
	http.SetCookie(v.w, &http.Cookie{
		Name: shareCookie, Value: in.Secret, Path: sharedPath + s.ID(), MaxAge: max(1, int(time.Until(s.Expires)/time.Second)),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	return v.reply(struct {
		Share   string    `json:"share"`
		Expires time.Time `json:"expires"`
	}{s.ID(), s.Expires})
}

// admitShare admits whoever has the cookie of the share in the path.
func (v *visit) admitShare() error {
	v.identify(v.h.config.Gate.Address(v.r))
	if err := v.limit(); err != nil {
		return err
	}
	c, err := v.r.Cookie(shareCookie)
	if err != nil {
		return errOver
	}
	s, err := v.h.config.Engine.Shared(v.r.Context(), c.Value)
	if errors.Is(err, sequent.ErrNotFound) || err == nil && s.ID() != v.r.PathValue("share") {
		return errOver
	}
	if err != nil {
		return err
	}
	if v.masks, err = masksOf(&s); err != nil {
		return err
	}
	v.shared, v.shareID = &s, s.ID()
	v.engine = v.h.config.Engine.Owned(s.Key.Owner)
	return nil
}

// readShared answers with a document of the shared session.
func (v *visit) readShared(kind string, d document) error {
	if err := v.admitShare(); err != nil {
		return err
	}
	room, err := v.client.Reply(v.r.Context(), kind)
	if err != nil {
		return err
	}
	defer room.Sent()
	v.room = room
	return v.read(d)
}

// query returns the parameters of the request. Those of a share say which part of its session
// is wanted, and cannot name another one.
func (v *visit) query() url.Values {
	all := v.r.URL.Query()
	if v.shared == nil {
		return all
	}
	own := url.Values{"id": {string(v.shared.Key.ID)}}
	for _, name := range []string{"after", "limit", "from", "to", "line"} {
		if values, ok := all[name]; ok {
			own[name] = values
		}
	}
	return own
}

// public returns a document as the visitor may see it: with a share, without what only tells
// whose the session is, where it was recorded, and its id.
func (v *visit) public(doc any) any {
	if v.shared == nil {
		return doc
	}
	switch d := doc.(type) {
	case State:
		d.Session = v.public(d.Session).(Session)
		d.Notes = slices.Clone(d.Notes)
		for i := range d.Notes {
			d.Notes[i].From = ""
		}
		return d
	case Session:
		d.ID, d.Expires = v.shared.ID(), time.Time{}
		d.Context = sequent.Context{Client: d.Context.Client, Model: d.Context.Model}
		return d
	}
	return doc
}

// revoked reports whether the share of an open stream is over. One that cannot be looked up now
// is as it was, until it expires.
func (v *visit) revoked(ctx context.Context) bool {
	if !v.shared.Expires.After(v.h.config.Engine.Now()) {
		return true
	}
	list, err := v.engine.Shares(ctx, sequent.ShareQuery{Session: v.shared.Key.ID}) // finds it without looking at those of other owners
	return err == nil && !slices.ContainsFunc(list, func(s sequent.Share) bool { return s.Hash == v.shared.Hash })
}

// errRevoked ends the stream of a share that is over.
var errRevoked = errors.New("web: the share is over")
