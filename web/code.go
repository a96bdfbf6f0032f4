package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/auth"
)

// codeLifetime is how long a code can be exchanged for the token that asked for it. A browser
// that a command opens takes seconds.
const codeLifetime = time.Minute

// newCode answers with a code for the token of the request, for programs that open a browser in
// which a person is signed in. Command lines and URLs, which others may see, have the code, which
// works once, instead of the token. It is a ticket of the store, so that every replica takes it.
func (v *visit) newCode() error {
	if v.token == "" {
		return &Refusal{Status: http.StatusNotFound, Code: "no_login", Message: "this server has no tokens"}
	}
	code, err := v.h.config.Engine.NewTicket(v.r.Context(), []byte(v.token), codeLifetime)
	if err != nil {
		return err
	}
	return v.reply(struct {
		Code string `json:"code"`
	}{code})
}

// loginWithCode admits whoever has a code, and returns its token. Limits are those of the address,
// which guesses use up before the store is asked.
func (v *visit) loginWithCode(code string) (token string, err error) {
	v.identify(v.h.config.Gate.Address(v.r))
	if err := v.limit(); err != nil {
		return "", err
	}
	value, err := v.h.config.Engine.TakeTicket(v.r.Context(), code)
	if errors.Is(err, sequent.ErrNotFound) {
		return "", errNoToken // the code is used, or too old: the page asks for the token
	}
	if err != nil {
		return "", err
	}
	if err := v.check(v.r.Context(), string(value)); err != nil {
		return "", err
	}
	// A link with a code of someone else must not replace who is signed in.
	if before := v.cookie(cookieName); before != "" {
		if who, err := v.h.config.Auth.Identify(v.r.Context(), before); err == nil && who.Subject != v.granted.Subject {
			return "", &Refusal{
				Status: http.StatusConflict, Code: "signed_in", Message: "you are signed in here as " + who.Subject + ", and the code is for " + v.granted.Subject,
				Fix: "sign out in the viewer, then run sequent view --server again",
			}
		}
	}
	return string(value), v.need(auth.Read)
}
