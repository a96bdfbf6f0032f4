package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/auth"
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
// another, and a restart of a server loses nobody. Nothing is encrypted: each value is of use to
// the server only together with the others that the same browser has, or is a token that admits
// like the access token beside it. A key that replicas share would be one more secret to keep, and
// would not stop a thief of cookies, who could send the encrypted ones as well.
//
// Pages of other sites can neither read nor set these cookies: they are for this host alone
// (__Host-), hidden from scripts, and never sent with a request that another site caused. The last
// holds for the way back from the provider too: the redirect URI is a page without data, whose
// script hands the answer on.
const (
	attemptCookie = cookieName + "-signin"  // secret of a sign-in that has begun
	refreshCookie = cookieName + "-refresh" // refresh token
)

const (
	// redirectPath is the path of the page to which the provider returns.
	redirectPath = PagesPrefix + "signin"
	// attemptLifetime is how long a person may take to sign in.
	attemptLifetime = 10 * time.Minute
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

// signIn prepares a method of the sign-in. Limits are those of the address.
func (v *visit) signIn() (SignIn, error) {
	v.identify(v.h.config.Gate.Address(v.r))
	if err := v.limit(); err != nil {
		return nil, err
	}
	if v.h.config.SignIn == nil {
		return nil, errNoSignIn
	}
	return v.h.config.SignIn, nil
}

// failed returns an error of the provider as a refusal.
func (v *visit) failed(err error, code string) error {
	if bad, ok := errors.AsType[*auth.InvalidError](err); ok {
		return &Refusal{Status: http.StatusForbidden, Code: code, Message: bad.Reason, Fix: "sign in again, or ask the operator of this server"}
	}
	v.h.config.Logger.ErrorContext(v.r.Context(), "a sign-in failed because of the provider", "error", err)
	return errProviderAway
}

// beginSignIn answers with the page of the provider to go to.
func (v *visit) beginSignIn() error {
	provider, err := v.signIn()
	if err != nil {
		return err
	}
	// The provider returns people to the public URL. The cookies of another name of the
	// server would not be there.
	if origin := v.r.Header.Get("Origin"); origin != "" && !strings.EqualFold(origin, v.h.config.PublicURL) {
		return &Refusal{
			Status: http.StatusConflict, Code: "other_address", Message: "people sign in to this server at " + v.h.config.PublicURL,
			Fix: "open " + v.h.config.PublicURL + PagesPrefix,
		}
	}
	page, secret, err := provider.Begin(v.r.Context(), v.h.config.PublicURL+redirectPath, auth.Write)
	if err != nil {
		return v.failed(err, "sign_in_failed")
	}
	v.putCookie(attemptCookie, secret, attemptLifetime)
	return v.reply(struct {
		Page string `json:"page"`
	}{page})
}

// finishSignIn takes the provider's answer, the query of the redirect URI.
func (v *visit) finishSignIn() error {
	provider, err := v.signIn()
	if err != nil {
		return err
	}
	var in struct {
		Answer string `json:"answer"`
	}
	if err := v.body(&in); err != nil {
		return err
	}
	answer, err := url.ParseQuery(in.Answer)
	if err != nil {
		return invalid("answer", "is not the query of a URL")
	}
	tokens, err := provider.Finish(v.r.Context(), v.h.config.PublicURL+redirectPath, v.cookie(attemptCookie), answer)
	if err != nil {
		return v.failed(err, "sign_in_failed")
	}
	return v.signedIn(tokens)
}

// renewSignIn exchanges the refresh token for new tokens. The pages of a browser take turns, since
// a provider accepts a refresh token once.
func (v *visit) renewSignIn() error {
	provider, err := v.signIn()
	if err != nil {
		return err
	}
	refresh := v.cookie(refreshCookie)
	if refresh == "" {
		return errNoToken
	}
	tokens, err := provider.Renew(v.r.Context(), refresh)
	if _, ended := errors.AsType[*auth.InvalidError](err); ended {
		v.forget()
	}
	if err != nil {
		return v.failed(err, "sign_in_ended")
	}
	return v.signedIn(tokens)
}

// signedIn admits the browser with tokens of the provider.
func (v *visit) signedIn(tokens auth.Tokens) error {
	err := v.check(v.r.Context(), tokens.Access) // limits stay those of the address, which has taken a call
	if err == nil {
		err = v.need(auth.Read)
	}
	if bad, ok := errors.AsType[*Refusal](err); ok && bad != errNoWho {
		return &Refusal{
			Status: http.StatusForbidden, Code: "token_refused", Message: "the provider signed you in, but this server does not accept its token: " + bad.Message,
			Fix: "ask the operator of this server, who finds more in docs/troubleshooting.md",
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
	if !v.granted.Expires.IsZero() {
		lifetime = time.Until(v.granted.Expires)
	}
	v.putCookie(cookieName, tokens.Access, lifetime)
	if tokens.Refresh != "" && len(tokens.Refresh) <= maxCookie {
		v.putCookie(refreshCookie, tokens.Refresh, 0)
	} else {
		v.forgetRefresh()
	}
	v.putCookie(attemptCookie, "", -1)
	return v.reply(struct{}{})
}

// logout removes the cookies. It revokes the refresh token, and answers with the page that ends the
// session at the provider, if it has one.
func (v *visit) logout() error {
	provider, err := v.signIn()
	if err != nil && !errors.Is(err, errNoSignIn) {
		return err
	}
	var end string
	if provider != nil {
		if end, err = provider.End(v.r.Context(), v.cookie(refreshCookie)); err != nil {
			v.h.config.Logger.WarnContext(v.r.Context(), "a refresh token could not be revoked", "error", err)
		}
	}
	v.forget()
	return v.reply(struct {
		End string `json:"end,omitempty"`
	}{end})
}

// forget removes the cookies of the visit.
func (v *visit) forget() {
	for _, name := range []string{cookieName, refreshCookie, attemptCookie} {
		v.putCookie(name, "", -1)
	}
}

// forgetRefresh removes the refresh token of a person who was signed in before. Otherwise the next
// renewal would sign that person in again.
func (v *visit) forgetRefresh() {
	if len(v.r.CookiesNamed(refreshCookie)) > 0 {
		v.putCookie(refreshCookie, "", -1)
	}
}

// cookie returns the value of a cookie; empty without it, or with several.
func (v *visit) cookie(name string) string {
	if list := v.r.CookiesNamed(name); len(list) == 1 {
		return strings.TrimSpace(list[0].Value)
	}
	return ""
}

// putCookie sets a cookie. A lifetime of 0 is that of the browser, and a negative one removes it.
func (v *visit) putCookie(name, value string, lifetime time.Duration) {
	age := int(lifetime / time.Second)
	if lifetime < 0 {
		age = -1
	}
	http.SetCookie(v.w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: age, Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}
