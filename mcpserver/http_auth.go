package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
)

const (
	// wellKnown is the path of what clients are told about tokens (RFC 9728). What it says of one
	// endpoint is below it, under the endpoint's path.
	wellKnown = "/.well-known/oauth-protected-resource"
	// insufficientScope is the code of RFC 6750 for a token that does not allow a request, and
	// invalidToken that for one that is not valid.
	insufficientScope = "insufficient_scope"
	invalidToken      = "invalid_token"
)

// authenticate finds out whose token the request carries.
func (v *visit) authenticate() bool {
	if v.h.config.Auth == nil {
		v.identify(v.h.gate.Address(v.r))
		return true
	}
	token := v.token()
	if token == "" {
		return v.unauthorized("", because("token_required", "this server needs a token: send it as Authorization: Bearer TOKEN"))
	}
	who, err := v.h.config.Auth.Identify(v.r.Context(), token)
	if fault := v.tokenFault(err); fault != nil {
		if fault.Reason == invalidToken {
			return v.unauthorized(invalidToken, fault)
		}
		v.w.Header().Set("Retry-After", "5")
		v.fail(http.StatusServiceUnavailable, nil, fault)
		return false
	}
	v.granted, v.caller.Owner, v.via.Token = who.Scope, who.Subject, who.Token
	v.identify(limits.Subject(who.Subject))
	return true
}

// token returns the token of the request; empty if there is none, or several.
func (v *visit) token() string {
	if len(v.r.Header.Values("Authorization")) == 0 {
		return v.socketToken()
	}
	return admission.Bearer(v.r)
}

// tokenFault returns the error for a token that is not valid, or that cannot be checked now; nil if err is nil.
func (v *visit) tokenFault(err error) *rpcError {
	if invalid, ok := errors.AsType[*auth.InvalidError](err); ok {
		return because(invalidToken, invalid.Reason)
	}
	if err == nil {
		return nil
	}
	v.h.config.Logger.Log(v.r.Context(), admission.FailureLevel(v.r), "who a client is cannot be told", "error", err)
	return because("token_unknown", "whose token this is cannot be told now; try again")
}

// recheck returns what the token of the connection allows now: it may have expired or been
// revoked, which is an [*auth.InvalidError].
func (v *visit) recheck(ctx context.Context) (auth.Scope, error) {
	if v.h.config.Auth == nil {
		return auth.None, nil
	}
	who, err := auth.Recheck(ctx, v.h.config.Auth, v.token(), v.caller.Owner)
	return who.Scope, err
}

// still ends a stream whose token has expired or been revoked since it began. A token that
// cannot be checked now is as it was.
func (v *visit) still(ctx context.Context) error {
	_, err := v.recheck(ctx)
	if fault := v.tokenFault(err); fault != nil && fault.Reason == invalidToken {
		return err
	}
	return nil
}

// unauthorized refuses a request without a valid token. The code is that of RFC 6750; empty
// for a request that has none.
func (v *visit) unauthorized(code string, fault *rpcError) bool {
	v.identify(v.h.gate.Address(v.r))
	if v.limit() { // guessing
		v.challenge(code, fault, auth.Write)
		v.fail(http.StatusUnauthorized, nil, fault)
	}
	return false
}

// allowed reports whether the token allows a message. If not it has answered.
func (v *visit) allowed(m *message) bool {
	fault, needed := v.lacks(m, v.granted)
	if fault != nil {
		v.challenge(insufficientScope, fault, needed)
		v.fail(http.StatusForbidden, m.ID, fault)
	}
	return fault == nil
}

// lacks returns the scope that a message needs, and the error for a token that does not allow it.
func (v *visit) lacks(m *message, granted auth.Scope) (fault *rpcError, needed auth.Scope) {
	needed = auth.Read
	if v.server.writes(m) {
		needed = auth.Write
	}
	if v.h.config.Auth == nil || granted >= needed {
		return nil, needed
	}
	name := v.h.config.Resource.SignIn.Scopes.Name(needed)
	return because(insufficientScope, "the token does not allow this: it needs the scope "+name), needed
}

// challenge tells which token the request needs, and where to get one.
func (v *visit) challenge(code string, fault *rpcError, needed auth.Scope) {
	text := `Bearer realm="sequent"`
	if code != "" {
		text += `, error="` + code + `", error_description="` + quotable(strings.TrimPrefix(fault.Message, refusedAs)) + `"`
	}
	if v.h.config.Resource.URL != "" { // the path of the public URL comes after the well-known one
		u := *v.h.resource
		u.Path = wellKnown + u.Path + strings.TrimSuffix(v.r.URL.Path, "/")
		text += `, scope="` + v.h.config.Resource.SignIn.Scopes.Names(needed) + `", resource_metadata="` + u.String() + `"`
	}
	v.w.Header().Set("WWW-Authenticate", text)
}

// quotable returns a text without what cannot stand in an error_description (RFC 6750).
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '\''
		}
		return r
	}, text)
}

// metadata answers a request for the metadata of the server or of an endpoint, and reports
// whether it was one. Every page may read it: a client in a browser needs it before it has a
// token.
func (v *visit) metadata() bool {
	path, ok := strings.CutPrefix(v.r.URL.Path, wellKnown)
	r := v.h.config.Resource
	if !ok || r.URL == "" || path != "" && path[0] != '/' {
		return false
	}
	v.w.Header().Set("Access-Control-Allow-Origin", "*")
	v.w.Header().Set("Access-Control-Allow-Headers", headerVersion)
	path = strings.TrimSuffix(strings.TrimPrefix(path, v.h.resource.Path), "/")
	if path != "" && v.h.servers[path] == nil {
		v.refuse(http.StatusNotFound, "there is no endpoint %.100q; %s", path, endpoints)
		return true
	}
	scopes := strings.Fields(r.SignIn.Scopes.Names(auth.Write))
	var signIn *auth.SignIn
	if r.SignIn.Client != "" {
		signIn = &r.SignIn
	}
	v.send(http.StatusOK, append(mustMarshal(struct {
		Resource string       `json:"resource"`
		Issuers  []string     `json:"authorization_servers"`
		Scopes   []string     `json:"scopes_supported"`
		Methods  []string     `json:"bearer_methods_supported"`
		Name     string       `json:"resource_name"`
		SignIn   *auth.SignIn `json:"sequent_sign_in,omitempty"` // for sequent server login
	}{r.URL + path, r.Issuers, scopes, []string{"header"}, "sequent", signIn}), '\n'), nil)
	return true
}
