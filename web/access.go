package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/audit"
	"github.com/sequent-dev/sequent/internal/limits"
)

// A Key is a secret that admits to a server on this machine, which other users of the
// machine can connect to as well. It is safe for concurrent use.
type Key struct {
	secret string
	codes  sync.Map // of strings
}

// NewKey returns a new random key.
func NewKey() *Key { return &Key{secret: rand.Text() + rand.Text()} }

// String returns the secret, which requests carry as Authorization: Bearer SECRET.
func (k *Key) String() string { return k.secret }

// Code returns a new code that can be exchanged for the key once. Programs that open a
// browser pass it on the command line, which other users of the machine may see.
func (k *Key) Code() string {
	code := rand.Text()
	k.codes.Store(code, true)
	return code
}

// redeem reports whether a code is valid, and makes it invalid.
func (k *Key) redeem(code string) bool { return k.codes.CompareAndDelete(code, true) }

// The refusals of requests that do not say who sends them.
var (
	errNoKey = &Refusal{
		Status: http.StatusUnauthorized, Code: "key_required",
		Message: "this server belongs to the person who started it", Fix: "open the URL that sequent view prints",
	}
	errNoToken = &Refusal{
		Status: http.StatusUnauthorized, Code: "token_required",
		Message: "this server needs a token", Fix: "sign in, or send Authorization: Bearer TOKEN",
	}
	errNoWho = &Refusal{
		Status: http.StatusServiceUnavailable, Code: "token_unknown", Message: "tokens cannot be checked now", Fix: "try again",
	}
)

// admitAny admits any client, within the limits of its address.
func (x *exchange) admitAny() error { return x.count(x.h.config.Gate.Address(x.r)) }

// admitOwner admits a client that may see the sessions that it asks for. Guesses count for the
// client's address.
func (x *exchange) admitOwner() error {
	err := x.identify()
	name := x.h.config.Gate.Address(x.r)
	if x.granted.Subject != "" {
		name = limits.Subject(x.granted.Subject)
	}
	if limited := x.count(name); limited != nil {
		return limited
	}
	if err == nil {
		err = x.need(auth.Read)
	}
	if err != nil {
		return err
	}
	x.engine = x.h.config.Engine
	if x.granted.Subject != "" {
		x.engine = x.engine.Owned(x.granted.Subject)
	}
	if q := x.r.URL.Query(); q.Has("owner") {
		x.engine, err = x.engineOf(q.Get("owner"), false)
	}
	return err
}

// count counts the request for a client, and refuses it beyond the client's limits.
func (x *exchange) count(name string) error {
	x.client = x.h.config.Limiter.Client(name)
	if err := x.client.Request(); err != nil {
		return err
	}
	err := x.client.Wait(x.r.Context(), limits.Calls)
	x.held, x.holds = limits.Calls, err == nil
	return err
}

// heavy waits for a turn to compute, which lasts until done is called.
func (x *exchange) heavy(ctx context.Context) (done func(), err error) {
	if err := x.client.Wait(ctx, limits.Heavy); err != nil {
		return nil, err
	}
	return func() { x.client.Give(limits.Heavy) }, nil
}

// end gives back what the exchange holds.
func (x *exchange) end() {
	if x.holds {
		x.client.Give(x.held)
	}
	if x.client != nil {
		x.client.Release()
	}
}

// identify finds out whose key or token the request carries, if the server wants one.
func (x *exchange) identify() error {
	cfg, token := &x.h.config, admission.Bearer(x.r)
	switch {
	case cfg.Key != nil && subtle.ConstantTimeCompare([]byte(token), []byte(cfg.Key.secret)) != 1:
		return errNoKey
	case cfg.Auth == nil:
		return nil
	}
	if token = cmp.Or(token, x.cookie(cookieName)); token == "" {
		return errNoToken
	}
	return x.check(token)
}

// check notes whose a token is and what it allows.
func (x *exchange) check(token string) error {
	who, err := x.h.config.Auth.Identify(x.r.Context(), token)
	if invalid, ok := errors.AsType[*auth.InvalidError](err); ok {
		return &Refusal{
			Status: http.StatusUnauthorized, Code: "token_invalid", Message: invalid.Reason, Fix: "sign in with another token",
		}
	}
	if err != nil {
		x.h.config.Logger.Log(x.r.Context(), admission.FailureLevel(x.r), "who a client is cannot be told", "error", err)
		return errNoWho
	}
	x.granted, x.token = who, token
	return nil
}

// still returns an error if the token or link of a stream has expired or been revoked since it began.
// One that cannot be checked now is as it was.
func (x *exchange) still(ctx context.Context) error {
	switch {
	case x.linked != nil:
		return x.stillLinked(ctx)
	case x.h.config.Auth == nil:
		return nil
	}
	who, err := auth.Recheck(ctx, x.h.config.Auth, x.token, x.granted.Subject)
	_, invalid := errors.AsType[*auth.InvalidError](err)
	needed := auth.Read
	if x.engine.Owner() != x.granted.Subject {
		needed = auth.Admin
	}
	if invalid || err == nil && who.Scope < needed {
		return errClosed // the client connects again, and is told
	}
	return nil
}

// need refuses a request whose token does not have a scope.
func (x *exchange) need(scope auth.Scope) error {
	if x.h.config.Auth == nil || x.granted.Scope >= scope {
		return nil
	}
	return lacks("the token does not allow this: it needs the scope "+scope.String(), "sign in with a token that has it")
}

func lacks(message, fix string) *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "insufficient_scope", Message: message, Fix: fix}
}

// needOwn refuses a request that changes sessions of others, or that a token does not allow.
func (x *exchange) needOwn(what string) error {
	if err := x.need(auth.Write); err != nil {
		return err
	}
	if x.h.config.Auth != nil && x.engine.Owner() != x.granted.Subject {
		return lacks(what+" for sessions of one's own", "ask their owner")
	}
	return nil
}

// engineOf returns the engine of an owner, or that of the local user for all owners. A client
// sees the sessions of its own subject, and with the scope admin those of others.
func (x *exchange) engineOf(owner string, all bool) (*sequent.Engine, error) {
	if owner == x.engine.Owner() && !all {
		return x.engine, nil
	}
	if x.h.config.Auth == nil {
		return nil, lacks("without tokens this server shows the sessions of its own user only",
			"start it with --auth FILE, and pass a token with the scope admin")
	}
	if x.granted.Scope < auth.Admin {
		fix := "ask whoever runs the server for a token of `sequent server token new " + x.granted.Subject + " --scope admin`"
		if strings.HasPrefix(x.granted.Subject, "oidc:") {
			fix = "sign in with `sequent server login --scope admin`, if the provider gives you that scope"
		}
		return nil, lacks(fmt.Sprintf("the token of %q sees only its own sessions: those of other owners need the scope %v",
			x.granted.Subject, auth.Admin), fix)
	}
	if all {
		owner = ""
	}
	return x.h.config.Engine.Owned(owner), nil
}

// actions names what requests do whose route does not say it.
var actions = map[string]string{
	"POST /api/v1/login":          "sign-in",
	"POST /api/v1/login/finish":   "sign-in",
	"DELETE /api/v1/login":        "sign-out",
	"POST /api/v1/links":          "link.create",
	"POST /api/v1/linked":         "link.open",
	"DELETE /api/v1/links/{link}": "link.revoke",
}

// observe begins the entry of a request to the API in the audit log, if there is one. What the
// server is can be asked without notice.
func (x *exchange) observe() {
	if x.h.config.Audit == nil || x.r.URL.Path == APIPrefix+"v1/" {
		return
	}
	ctx, e := audit.Begin(x.r.Context(), time.Now())
	e.Transport, e.Trace = "http", audit.TraceOf(x.r.Header.Get("Traceparent"))
	if address := x.h.config.Gate.Client(x.r); address.IsValid() {
		e.Address = address.String()
	}
	x.r, x.entry = x.r.WithContext(ctx), e
}

// answered ends the entry of a request that is answered, or whose stream has begun.
// Further calls do nothing.
func (x *exchange) answered() {
	e := x.entry
	if e == nil {
		return
	}
	x.entry = nil
	e.Subject, e.Token, e.Status, e.Code, e.Link = x.granted.Subject, x.granted.Token, x.status, x.code, x.linkID
	if x.linked != nil {
		e.Who = audit.Link
	}
	if x.r.Pattern != APIPrefix {
		e.Action = cmp.Or(actions[x.r.Pattern], x.r.Pattern)
	}
	x.h.config.Audit.Record(e)
}
