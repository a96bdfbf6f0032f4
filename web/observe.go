package web

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/sequent-dev/sequent/auth"
)

// An Access is a request to the API and, at its end, the outcome.
type Access struct {
	Action   string // one of actions, or the route, such as GET /api/v1/session; empty for a request that was refused before that was known
	Granted  auth.Identity
	Address  netip.Addr // of the client, as the server trusts it
	Parent   string     // the header Traceparent, as the client sent it
	Received time.Time
	Share    string // id of the share that the request is about; empty for none
	Shared   bool   // the share admits the client
	Status   int    // of HTTP
	Code     string // of the refusal; empty without one
}

// actions names what requests do whose route does not say it.
var actions = map[string]string{
	"POST /api/v1/login":            "sign-in",
	"POST /api/v1/login/finish":     "sign-in",
	"DELETE /api/v1/login":          "sign-out",
	"POST /api/v1/shares":           "share.create",
	"POST /api/v1/shared":           "share.open",
	"DELETE /api/v1/shares/{share}": "share.revoke",
}

// observe tells the observer, if there is one, of a request to the API that begins. What the
// server is can be asked without notice.
func (v *visit) observe() {
	if v.h.config.Observe == nil || v.r.URL.Path == APIPrefix+"v1/" {
		return
	}
	v.seen = &Access{Address: v.h.config.Gate.Client(v.r), Parent: v.r.Header.Get("Traceparent"), Received: time.Now()}
	ctx, end := v.h.config.Observe(v.r.Context(), v.seen)
	v.r, v.observed = v.r.WithContext(ctx), end
}

// answered tells the observer that the request is answered, or that its stream has begun.
// Further calls do nothing.
func (v *visit) answered() {
	if v.seen == nil {
		return
	}
	v.seen.Granted, v.seen.Status, v.seen.Code = v.granted, v.status, v.code
	v.seen.Share, v.seen.Shared = v.shareID, v.shared != nil
	if v.r.Pattern != APIPrefix {
		v.seen.Action = cmp.Or(actions[v.r.Pattern], v.r.Pattern)
	}
	v.seen = nil
	v.observed()
}

// request returns the request of a visit, from whose context its handler gets it.
func (v *visit) request() *http.Request {
	v.r = v.r.WithContext(context.WithValue(v.r.Context(), visitKey{}, v))
	return v.r
}
