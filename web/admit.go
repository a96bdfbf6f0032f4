package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/governor"
)

// cookieName is the name of the cookie that holds the token of a person. A browser keeps
// cookies with this prefix to the exact host, and sends them over TLS or to this machine.
const cookieName = "__Host-sequent"

// A Key is a secret that admits to a server on this machine, which other users of the
// machine can connect to as well. It is safe for concurrent use.
type Key struct {
	secret string

	mu    sync.Mutex
	codes map[string]bool
}

// NewKey returns a new random key.
func NewKey() *Key { return &Key{secret: rand.Text() + rand.Text(), codes: make(map[string]bool)} }

// String returns the secret, which requests carry as Authorization: Bearer SECRET.
func (k *Key) String() string { return k.secret }

// Code returns a new code that can be exchanged for the key once. Programs that open a
// browser pass it on the command line, which other users of the machine may see.
func (k *Key) Code() string {
	code := rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.codes[code] = true
	return code
}

// redeem reports whether a code is valid, and makes it invalid.
func (k *Key) redeem(code string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	valid := k.codes[code]
	delete(k.codes, code)
	return valid
}

// The refusals of requests that do not say who sends them.
var (
	errNoKey = &Refusal{
		Status: http.StatusUnauthorized, Code: "key_required", Message: "this server belongs to the person who started it",
		Fix: "open the URL that sequent view prints",
	}
	errNoToken = &Refusal{
		Status: http.StatusUnauthorized, Code: "token_required", Message: "this server needs a token",
		Fix: "sign in, or send Authorization: Bearer TOKEN",
	}
	errNoWho = &Refusal{
		Status: http.StatusServiceUnavailable, Code: "token_unknown", Message: "tokens cannot be checked now",
		Fix: "try again",
	}
)

// admit finds out who sends the request and takes a part of the server's capacity.
func (v *visit) admit() error {
	err := v.who(v.r.Context())
	if v.client == nil {
		v.identify(v.h.config.Gate.Address(v.r))
	}
	if limited := v.limit(); limited != nil { // guesses are limited too
		return limited
	}
	if err != nil {
		return err
	}
	v.engine = v.h.config.Engine
	if v.granted.Subject != "" {
		v.engine = v.engine.Owned(v.granted.Subject)
	}
	if q := v.r.URL.Query(); q.Has("owner") {
		v.engine, err = v.engineOf(q.Get("owner"), false)
	}
	return err
}

// who finds out whose token the request carries, if the server wants one.
func (v *visit) who(ctx context.Context) error {
	cfg := &v.h.config
	token := admission.Bearer(v.r)
	switch {
	case cfg.Key != nil:
		if subtle.ConstantTimeCompare([]byte(token), []byte(cfg.Key.secret)) != 1 {
			return errNoKey
		}
		return nil
	case cfg.Auth == nil:
		return nil
	}
	if token == "" {
		token = v.cookie(cookieName)
	}
	if token == "" {
		return errNoToken
	}
	return v.grant(ctx, token)
}

// grant notes whose a token is and what it allows, and makes that subject the one whom limits
// are for.
func (v *visit) grant(ctx context.Context, token string) error {
	if err := v.check(ctx, token); err != nil {
		return err
	}
	v.identify("subject " + v.granted.Subject)
	return v.need(auth.Read)
}

// check notes whose a token is and what it allows.
func (v *visit) check(ctx context.Context, token string) error {
	who, err := v.h.config.Auth.Identify(ctx, token)
	if invalid, ok := errors.AsType[*auth.InvalidError](err); ok {
		return &Refusal{
			Status: http.StatusUnauthorized, Code: "token_invalid", Message: invalid.Reason, Fix: "sign in with another token",
		}
	}
	if err != nil {
		v.h.config.Logger.ErrorContext(ctx, "who a client is cannot be told", "error", err)
		return errNoWho
	}
	v.granted, v.token = who, token
	return nil
}

// still ends a stream whose token has expired or been revoked since it began. A token that
// cannot be checked now is as it was.
func (v *visit) still(ctx context.Context) error {
	if v.shared != nil {
		if v.revoked(ctx) {
			return errRevoked
		}
		return nil
	}
	if v.h.config.Auth == nil {
		return nil
	}
	who, err := auth.Recheck(ctx, v.h.config.Auth, v.token, v.granted.Subject)
	_, invalid := errors.AsType[*auth.InvalidError](err)
	needed := auth.Read
	if v.engine.Owner() != v.granted.Subject {
		needed = auth.Admin
	}
	if invalid || err == nil && who.Scope < needed {
		return errClosed // the client connects again, and is told
	}
	return nil
}

// need refuses a request whose token does not have a scope.
func (v *visit) need(scope auth.Scope) error {
	if v.h.config.Auth == nil || v.granted.Scope >= scope {
		return nil
	}
	return &Refusal{
		Status: http.StatusForbidden, Code: "insufficient_scope",
		Message: "the token does not allow this: it needs the scope " + scope.String(), Fix: "sign in with a token that has it",
	}
}

// identify makes the client with a name the one whom the limits are for.
func (v *visit) identify(name string) { v.client = v.h.config.Governor.Subject(name) }

// limit refuses a client that sends requests too fast or has too many under way.
func (v *visit) limit() error {
	if err := v.client.Request(); err != nil {
		return err
	}
	return v.take(governor.Calls)
}

// take takes a unit of a resource until the visit ends.
func (v *visit) take(r governor.Resource) error {
	if err := v.client.Take(r, 1); err != nil {
		return err
	}
	v.held[r]++
	return nil
}

// heavy waits for a turn to compute, which lasts until done is called.
func (v *visit) heavy() (done func(), err error) {
	if err := v.client.Wait(v.r.Context(), governor.Heavy, 1); err != nil {
		return nil, err
	}
	return func() { v.client.Give(governor.Heavy, 1) }, nil
}

// drop gives back what the visit holds of a resource.
func (v *visit) drop(r governor.Resource) {
	if n := v.held[r]; n > 0 {
		v.held[r] = 0
		v.client.Give(r, n)
	}
}

// end gives back everything.
func (v *visit) end() {
	if v.client == nil {
		return
	}
	for r := range v.held {
		v.drop(governor.Resource(r))
	}
	v.client.Release()
}

// about tells what the server is and what it needs from a client.
func (v *visit) about() error {
	admits, write, owner, host := "none", !v.h.config.ReadOnly, "", ""
	switch cfg := &v.h.config; {
	case cfg.Key != nil:
		admits = "key"
		_ = v.admit()
	case cfg.Auth != nil:
		admits = "token"
		if err := v.admit(); err == nil {
			write = write && v.need(auth.Write) == nil
		}
	}
	if v.h.config.SignIn != nil {
		host = v.h.config.SignIn.Host()
	}
	if v.engine != nil {
		owner = v.engine.Owner()
	}
	return v.reply(struct {
		Version int    `json:"version"`
		Program string `json:"program"`
		Auth    string `json:"auth"`
		Write   bool   `json:"write"`
		Share   bool   `json:"share"`            // links to sessions can be made
		Owner   string `json:"owner,omitempty"`  // of the sessions that are seen; empty is the server's own user
		Scope   string `json:"scope,omitempty"`  // of the token
		SignIn  string `json:"signIn,omitempty"` // the provider's host; empty without sign-in
	}{1, v.h.config.Version, admits, write, write && v.h.shares(), owner, v.granted.Scope.String(), host})
}

// redeem exchanges a code for the key.
func (v *visit) redeem() error {
	v.identify(v.h.config.Gate.Address(v.r))
	if err := v.limit(); err != nil {
		return err
	}
	var in struct {
		Code string `json:"code"`
	}
	if err := v.body(&in); err != nil {
		return err
	}
	if v.h.config.Key == nil || !v.h.config.Key.redeem(in.Code) {
		return errNoKey
	}
	return v.reply(struct {
		Key string `json:"key"`
	}{v.h.config.Key.secret})
}

// login puts a valid token into a cookie that scripts cannot read. The token is checked
// again with each request, so that one that is revoked is of no use from then on.
func (v *visit) login() error {
	if v.h.config.Auth == nil {
		return &Refusal{Status: http.StatusNotFound, Code: "no_login", Message: "this server has no tokens"}
	}
	var in struct {
		Token string `json:"token"`
		Code  string `json:"code"`
	}
	err := v.body(&in)
	if err == nil && in.Code != "" {
		if in.Token, err = v.loginWithCode(in.Code); err != nil {
			return err
		}
	} else {
		if in.Token = strings.TrimSpace(in.Token); err == nil {
			err = v.grant(v.r.Context(), in.Token)
		}
		if v.client == nil {
			v.identify(v.h.config.Gate.Address(v.r))
		}
		if limited := v.limit(); limited != nil {
			return limited
		}
		if err != nil {
			return err
		}
	}
	v.putCookie(cookieName, in.Token, 0)
	v.forgetRefresh()
	return v.reply(struct{}{})
}
