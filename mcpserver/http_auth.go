package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
)

// wellKnown is the path of what clients are told about tokens (RFC 9728). What it says of one
// endpoint is below it, under the endpoint's path.
const wellKnown = "/.well-known/oauth-protected-resource"

// authenticate finds out whose token the request carries.
func (v *visit) authenticate() bool {
	if v.h.config.Auth == nil {
		v.identify(v.h.gate.Address(v.r))
		return true
	}
	token := v.token()
	if token == "" {
		return v.unauthorized("", "this server needs a token: send it as Authorization: Bearer TOKEN")
	}
	who, err := v.h.config.Auth.Identify(v.r.Context(), token)
	if invalid, ok := errors.AsType[*auth.InvalidError](err); ok {
		return v.unauthorized("invalid_token", invalid.Reason)
	}
	if err != nil {
		v.h.logger.Log(v.r.Context(), admission.FailureLevel(v.r), "who a client is cannot be told", "error", err)
		v.w.Header().Set("Retry-After", "5")
		v.fail(http.StatusServiceUnavailable, nil, because("token_unknown", "whose token this is cannot be told now; try again"))
		return false
	}
	v.granted, v.caller.Owner, v.via.Token = who, who.Subject, who.Token
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
	if _, invalid := errors.AsType[*auth.InvalidError](err); invalid {
		return err
	}
	return nil
}

// unauthorized refuses a request without a valid token. The code is that of RFC 6750; empty
// for a request that has none.
func (v *visit) unauthorized(code, msg string) bool {
	v.identify(v.h.gate.Address(v.r))
	if !v.limit() { // guessing
		return false
	}
	v.challenge(code, msg, auth.Write)
	if code == "" {
		code = "token_required"
	}
	v.fail(http.StatusUnauthorized, nil, because(code, msg))
	return false
}

// insufficientScope is the code of RFC 6750 for a token that does not allow a request.
const insufficientScope = "insufficient_scope"

// allowed reports whether the token allows a message. If not it has answered.
func (v *visit) allowed(m *message) bool {
	msg, needed := v.lacks(m, v.granted.Scope)
	if msg == "" {
		return true
	}
	v.challenge(insufficientScope, msg, needed)
	v.fail(http.StatusForbidden, m.ID, because(insufficientScope, msg))
	return false
}

// lacks returns the scope that a message needs and a token does not allow, and says so. The
// text is empty for a message that is allowed.
func (v *visit) lacks(m *message, granted auth.Scope) (msg string, needed auth.Scope) {
	needed = auth.Read
	if v.server.writes(m) {
		needed = auth.Write
	}
	if v.h.config.Auth == nil || granted >= needed {
		return "", needed
	}
	return "the token does not allow this: it needs the scope " + v.h.scopes().Name(needed), needed
}

// scopes returns how the scopes are named at the provider.
func (h *HTTP) scopes() auth.ScopePrefix {
	if h.config.Resource == nil {
		return ""
	}
	return h.config.Resource.SignIn.Scopes
}

// challenge tells which token the request needs, and where to get one.
func (v *visit) challenge(code, msg string, needed auth.Scope) {
	text := `Bearer realm="sequent"`
	if code != "" {
		text += `, error="` + code + `", error_description="` + quotable(msg) + `"`
	}
	if v.h.config.Resource != nil {
		text += `, scope="` + v.h.scopes().Names(needed) + `", resource_metadata="` + v.h.metadataURL(v.r.URL.Path) + `"`
	}
	v.w.Header().Set("WWW-Authenticate", text)
}

// quotable returns a text without what cannot stand in an error_description (RFC 6750).
func quotable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' {
			return '\''
		}
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

// metadataURL returns where the metadata of an endpoint is. The path of the public URL comes
// after the well-known one.
func (h *HTTP) metadataURL(endpoint string) string {
	u, err := url.Parse(h.config.Resource.URL)
	if err != nil {
		return ""
	}
	u.Path = wellKnown + u.Path + strings.TrimSuffix(endpoint, "/")
	return u.String()
}

// metadata answers a request for the metadata of the server or of an endpoint, and reports
// whether it was one. Every page may read it: a client in a browser needs it before it has a
// token.
func (v *visit) metadata() bool {
	path, ok := strings.CutPrefix(v.r.URL.Path, wellKnown)
	if !ok || v.h.config.Resource == nil || path != "" && path[0] != '/' {
		return false
	}
	header := v.w.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("Access-Control-Allow-Headers", headerVersion)
	switch v.r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		v.accept(http.StatusNoContent)
		return true
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		v.refuse(http.StatusMethodNotAllowed, "this document can only be read")
		return true
	}
	public, err := url.Parse(v.h.config.Resource.URL)
	if err == nil {
		path = strings.TrimPrefix(path, public.Path)
	}
	path = strings.TrimSuffix(path, "/")
	if path != "" && v.h.servers[path] == nil {
		v.refuse(http.StatusNotFound, "there is no endpoint %.100q; the MCP endpoints are %s", path, v.h.names)
		return true
	}
	r := v.h.config.Resource
	var signIn *auth.SignIn
	if r.SignIn.Client != "" {
		signIn = &r.SignIn
	}
	document, err := json.Marshal(struct {
		Resource string       `json:"resource"`
		Issuers  []string     `json:"authorization_servers"`
		Scopes   []string     `json:"scopes_supported"`
		Methods  []string     `json:"bearer_methods_supported"`
		Name     string       `json:"resource_name"`
		SignIn   *auth.SignIn `json:"sequent_sign_in,omitempty"` // for sequent server login
	}{r.URL + path, r.Issuers, strings.Fields(r.SignIn.Scopes.Names(auth.Write)), []string{"header"}, "sequent", signIn})
	if err != nil {
		panic("mcpserver: " + err.Error()) // strings
	}
	v.send(http.StatusOK, append(document, '\n'))
	return true
}
