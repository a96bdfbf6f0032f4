package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/auth"
	"github.com/sequent-dev/sequent/internal/admission"
)

// A SignIn signs people in at a provider, with the authorization code flow. An error that is an
// [*auth.InvalidError] is one of the sign-in; after any other, the same request may succeed later.
type SignIn interface {
	// Host names the provider, for people.
	Host() string
	// Begin returns the provider's page, and a secret without which the sign-in cannot be finished.
	Begin(ctx context.Context, redirect string, scope auth.Scope) (page, secret string, err error)
	// Finish exchanges the provider's answer for tokens.
	Finish(ctx context.Context, redirect, secret string, answer url.Values) (auth.Tokens, error)
	// Renew exchanges a refresh token for new tokens.
	Renew(ctx context.Context, refresh string) (auth.Tokens, error)
	// End revokes a refresh token, if it is not empty, and returns the page that ends the
	// person's session at the provider; empty if there is none.
	End(ctx context.Context, refresh string) (page string, err error)
}

// The cookies of a sign-in, beside cookieName, which has the access token.
//
// All that a sign-in needs to go on is in the browser, so it can begin at one replica and end at
// another, and a restart of a server ends no sign-in. Nothing is encrypted: each value is of use to
// the server only together with the others that the same browser has, or is a token that admits
// like the access token beside it. A key that replicas share would be one more secret to keep, and
// would not stop a thief of cookies, who could send the encrypted ones as well.
//
// Pages of other sites can neither read nor set these cookies: they are for this host alone
// (__Host-), hidden from scripts, and never sent with a request that another site caused. The last
// holds for the way back from the provider too: the redirect URI is a page without data, whose
// script hands the answer on.
const (
	// cookieName is the name of the cookie that holds the token of a person. A browser keeps
	// cookies with this prefix to the exact host, and sends them over TLS or to this machine.
	cookieName    = "__Host-sequent"
	attemptCookie = cookieName + "-signin"  // secret of a sign-in that has begun
	refreshCookie = cookieName + "-refresh" // refresh token
)

const (
	// redirectPath is the path of the page to which the provider returns.
	redirectPath = PagesPrefix + "signin"
	// attemptLifetime is how long a person may take to sign in.
	attemptLifetime = 10 * time.Minute
	// removed is the lifetime of a cookie that a browser removes.
	removed = -time.Second
	// maxCookie is how many bytes a token in a cookie may have. Browsers drop longer cookies.
	maxCookie = 3900
)

var (
	errNoSignIn = &Refusal{
		Status: http.StatusNotFound, Code: "no_sign_in", Message: "this server has no sign-in through a provider",
		Fix: "use a token, or start the server with --oidc-client-id",
	}
	errProviderAway = &Refusal{
		Status: http.StatusServiceUnavailable, Code: "provider_unavailable", Message: "the provider cannot be reached now",
		Fix: "try again in a moment", retryAfter: 3 * time.Second,
	}
)

// signingIn returns a method that needs a provider.
func signingIn(f func(*exchange, SignIn) error) method {
	return func(x *exchange) error {
		if x.h.config.SignIn == nil {
			return errNoSignIn
		}
		return f(x, x.h.config.SignIn)
	}
}

// failed returns an error of the provider as a refusal.
func (x *exchange) failed(err error, code string) error {
	if bad, ok := errors.AsType[*auth.InvalidError](err); ok {
		return &Refusal{
			Status: http.StatusForbidden, Code: code, Message: bad.Reason, Fix: "sign in again, or ask the operator of this server",
		}
	}
	x.h.config.Logger.Log(x.r.Context(), admission.FailureLevel(x.r), "a sign-in failed because of the provider", "error", err)
	return errProviderAway
}

// beginSignIn answers with the page of the provider to go to.
func (x *exchange) beginSignIn(provider SignIn) error {
	// The provider returns people to the public URL. The cookies of another name of the
	// server would not be there.
	if origin := x.r.Header.Get("Origin"); origin != "" && !strings.EqualFold(origin, x.h.config.PublicURL) {
		return &Refusal{
			Status: http.StatusConflict, Code: "other_address", Message: "people sign in to this server at " + x.h.config.PublicURL,
			Fix: "open " + x.h.config.PublicURL + PagesPrefix,
		}
	}
	page, secret, err := provider.Begin(x.r.Context(), x.h.config.PublicURL+redirectPath, auth.Write)
	if err != nil {
		return x.failed(err, "sign_in_failed")
	}
	x.putCookie(attemptCookie, secret, attemptLifetime)
	return x.reply(map[string]string{"page": page})
}

// finishSignIn takes the provider's answer, the query of the redirect URI.
func (x *exchange) finishSignIn(provider SignIn) error {
	var in struct {
		Answer string `json:"answer"`
	}
	if err := x.body(&in); err != nil {
		return err
	}
	answer, err := url.ParseQuery(in.Answer)
	if err != nil {
		return invalid("answer", "is not the query of a URL")
	}
	tokens, err := provider.Finish(x.r.Context(), x.h.config.PublicURL+redirectPath, x.cookie(attemptCookie), answer)
	if err != nil {
		return x.failed(err, "sign_in_failed")
	}
	return x.signedIn(tokens)
}

// renewSignIn exchanges the refresh token for new tokens. The pages of a browser take turns, since
// a provider accepts a refresh token once.
func (x *exchange) renewSignIn(provider SignIn) error {
	refresh := x.cookie(refreshCookie)
	if refresh == "" {
		return errNoToken
	}
	tokens, err := provider.Renew(x.r.Context(), refresh)
	if _, ended := errors.AsType[*auth.InvalidError](err); ended {
		x.forget()
	}
	if err != nil {
		return x.failed(err, "sign_in_ended")
	}
	return x.signedIn(tokens)
}

// signedIn admits the browser with tokens of the provider.
func (x *exchange) signedIn(tokens auth.Tokens) error {
	err := x.check(tokens.Access)
	if err == nil {
		err = x.need(auth.Read)
	}
	if bad, ok := errors.AsType[*Refusal](err); ok && bad != errNoWho {
		return &Refusal{
			Status: http.StatusForbidden, Code: "token_refused",
			Message: "the provider signed you in, but this server does not accept its token: " + bad.Message,
			Fix:     "ask the operator of this server, who finds more in docs/troubleshooting.md",
		}
	}
	if err != nil {
		return err
	}
	if len(tokens.Access) > maxCookie {
		return &Refusal{
			Status: http.StatusForbidden, Code: "token_too_long", Message: "the provider's token is too long for a cookie",
			Fix: "have the provider put fewer claims, such as groups, into access tokens for this server",
		}
	}
	lifetime := time.Duration(0) // of the browser
	if !x.granted.Expires.IsZero() {
		lifetime = time.Until(x.granted.Expires)
	}
	x.putCookie(cookieName, tokens.Access, lifetime)
	if tokens.Refresh != "" && len(tokens.Refresh) <= maxCookie {
		x.putCookie(refreshCookie, tokens.Refresh, 0)
	} else {
		x.forgetRefresh()
	}
	x.putCookie(attemptCookie, "", removed)
	return x.reply(struct{}{})
}

// logout removes the cookies. It revokes the refresh token, and answers with the page that ends the
// session at the provider, if it has one.
func (x *exchange) logout() error {
	reply := make(map[string]string)
	if provider := x.h.config.SignIn; provider != nil {
		end, err := provider.End(x.r.Context(), x.cookie(refreshCookie))
		if end != "" {
			reply["end"] = end
		}
		if err != nil {
			x.h.config.Logger.WarnContext(x.r.Context(), "a refresh token could not be revoked", "error", err)
		}
	}
	x.forget()
	return x.reply(reply)
}

// forget removes the cookies of a sign-in.
func (x *exchange) forget() {
	for _, name := range []string{cookieName, refreshCookie, attemptCookie} {
		x.putCookie(name, "", removed)
	}
}

// forgetRefresh removes the refresh token of a person who was signed in before. Otherwise the next
// renewal would sign that person in again.
func (x *exchange) forgetRefresh() {
	if len(x.r.CookiesNamed(refreshCookie)) > 0 {
		x.putCookie(refreshCookie, "", removed)
	}
}

// cookie returns the value of a cookie; empty without it, or with several.
func (x *exchange) cookie(name string) string {
	if list := x.r.CookiesNamed(name); len(list) == 1 {
		return strings.TrimSpace(list[0].Value)
	}
	return ""
}

// putCookie sets a cookie. A lifetime of 0 is that of the browser, and removed removes it.
func (x *exchange) putCookie(name, value string, lifetime time.Duration) {
	http.SetCookie(x.w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(lifetime / time.Second),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}
