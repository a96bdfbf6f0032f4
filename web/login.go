package web

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/auth"
)

// about tells what the server is and what it needs from a client.
func (x *exchange) about() error {
	cfg, write := &x.h.config, true
	reply := map[string]any{"version": 1, "program": cfg.Version, "auth": "none"}
	if cfg.Key != nil {
		reply["auth"] = "key"
	}
	if cfg.Auth != nil {
		reply["auth"] = "token"
		if x.admitOwner() == nil {
			reply["owner"], write = x.granted.Subject, x.granted.Scope >= auth.Write
		}
		reply["scope"] = x.granted.Scope.String()
	}
	if cfg.SignIn != nil {
		reply["signIn"] = cfg.SignIn.Host()
	}
	if len(cfg.Commands) > 0 {
		reply["commands"] = cfg.Commands
	}
	reply["write"], reply["links"] = write, write && x.h.links()
	return x.reply(reply)
}

type codeBody struct {
	Code string `json:"code"`
}

// redeem exchanges a code for the key.
func (x *exchange) redeem(in codeBody) error {
	key := x.h.config.Key
	if key == nil || !key.redeem(in.Code) {
		return errNoKey
	}
	return x.reply(map[string]string{"key": key.secret})
}

type loginBody struct {
	Token string `json:"token"`
	Code  string `json:"code"`
}

// login puts a valid token into a cookie that scripts cannot read. The token is checked
// again with each request, so that one that is revoked is of no use from then on.
func (x *exchange) login(in loginBody) error {
	if x.h.config.Auth == nil {
		return errNoTokens
	}
	token, err := strings.TrimSpace(in.Token), error(nil)
	if in.Code != "" {
		token, err = x.h.takeCode(x.r.Context(), in.Code)
	}
	if err != nil {
		return err
	}
	if token == "" {
		return errNoToken // a code that is used, or too old: the page asks for the token
	}
	if err := x.check(token); err != nil {
		return err
	}
	// A link with a code of someone else must not replace who is signed in.
	if before := x.cookie(cookieName); in.Code != "" && before != "" {
		if who, err := x.h.config.Auth.Identify(x.r.Context(), before); err == nil && who.Subject != x.granted.Subject {
			return &Refusal{
				Status: http.StatusConflict, Code: "signed_in",
				Message: "you are signed in here as " + who.Subject + ", and the code is for " + x.granted.Subject,
				Fix:     "sign out in the viewer, then run sequent view --server again",
			}
		}
	}
	if err := x.need(auth.Read); err != nil {
		return err
	}
	x.putCookie(cookieName, token, 0)
	x.forgetRefresh()
	return x.reply(struct{}{})
}

var errNoTokens = &Refusal{Status: http.StatusNotFound, Code: "no_login", Message: "this server has no tokens"}

// codeLifetime is how long a code can be exchanged for the token that asked for it. A browser
// that a command opens takes seconds.
const codeLifetime = time.Minute

// newCode answers with a code for the token of the request, for programs that open a browser in
// which a person is signed in. Command lines and URLs, which others may see, have the code, which
// works once, instead of the token. The store keeps it, so that every replica takes it.
func (x *exchange) newCode() error {
	if x.token == "" {
		return errNoTokens
	}
	code, err := x.h.putCode(x.r.Context(), x.token)
	if err != nil {
		return err
	}
	return x.reply(map[string]string{"code": code})
}

// codePrefix begins the names of codes among the values of the store.
const codePrefix = "code/"

// putCode keeps a token for codeLifetime, and returns the code that takes it. The store has
// neither the code nor the token in clear.
func (h *Handler) putCode(ctx context.Context, token string) (code string, err error) {
	code = rand.Text() // 130 bits
	expires := h.config.Now().Add(codeLifetime)
	value := sealOf(code).Seal(nil, nil, fmt.Appendf(nil, "%d %s", expires.Unix(), token), nil)
	return code, h.values.PutValue(ctx, hashed(codePrefix, code), value, expires)
}

// takeCode uses up a code and returns its token; empty if the code is not valid, or not any more.
func (h *Handler) takeCode(ctx context.Context, code string) (token string, err error) {
	if h.values == nil {
		return "", errNoValues
	}
	value, err := h.values.TakeValue(ctx, hashed(codePrefix, code))
	if err != nil || value == nil {
		return "", err
	}
	text, err := sealOf(code).Open(nil, nil, value, nil)
	if err != nil {
		return "", fmt.Errorf("the value of a sign-in code was altered: %w", err)
	}
	until, token, _ := strings.Cut(string(text), " ")
	if expires, err := strconv.ParseInt(until, 10, 64); err != nil || expires <= h.config.Now().Unix() {
		return "", err
	}
	return token, nil
}

// sealOf returns the cipher of the token that a code stands for. Each key encrypts one token, and the
// code is as random as a key has to be.
func sealOf(code string) cipher.AEAD {
	key := sha256.Sum256([]byte("sequent sign-in code " + code))
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("web: " + err.Error()) // the key has a valid length
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic("web: " + err.Error()) // the block has a valid length
	}
	return seal
}
