package oidc

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
)

// maxSubject is how many bytes the claim that names the owner may have (OpenID Connect Core 2, for
// sub).
const maxSubject = 255

// claims are what a token says that matters here.
type claims struct {
	Issuer    string          `json:"iss"`
	Owner     string          `json:"-"` // value of the claim that names the owner
	Audience  texts           `json:"aud"`
	Client    string          `json:"client_id"`
	Expires   seconds         `json:"exp"`
	NotBefore seconds         `json:"nbf"`
	Scope     words           `json:"scope"`
	SCP       words           `json:"scp"`
	Bound     json.RawMessage `json:"cnf"` // to a key that the sender must prove to have

	// What ID tokens have, of several providers.
	Nonce           string `json:"nonce"`
	AccessTokenHash string `json:"at_hash"`
	CodeHash        string `json:"c_hash"`
	Use             string `json:"token_use"`
	Type            string `json:"typ"`
}

// texts is a string or an array of strings.
type texts []string

// UnmarshalJSON reads either.
func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// words is a string of words separated by spaces, or an array of such strings.
type words []string

// UnmarshalJSON reads either.
func (w *words) UnmarshalJSON(data []byte) error {
	var list texts
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*w = strings.Fields(strings.Join(list, " "))
	return nil
}

// seconds is a time as seconds since 1970; 0 means none.
type seconds float64

func (s seconds) time() time.Time { return time.Unix(int64(s), 0) }

// farthest is the last time that a token may name: the end of the year 9999.
const farthest = 253402300799

// parseClaims reads the claims of a token. That of the name owner says whose sessions it is for.
func parseClaims(payload []byte, owner string) (*claims, error) {
	c := new(claims)
	var all map[string]json.RawMessage
	err := errors.Join(json.Unmarshal(payload, c), json.Unmarshal(payload, &all))
	if text, ok := all[owner]; ok && err == nil {
		err = json.Unmarshal(text, &c.Owner)
	}
	if err != nil {
		return nil, invalid("the claims of the token are not what a JWT has")
	}
	return c, nil
}

// checkType refuses JWTs that say that they are something else than access tokens. Many
// providers say nothing.
func checkType(jws *jose.JSONWebSignature) error {
	header, _ := jws.Signatures[0].Header.ExtraHeaders[jose.HeaderType].(string)
	switch strings.TrimPrefix(strings.ToLower(header), "application/") {
	case "", "jwt", "at+jwt":
		return nil
	}
	return invalid("the token is of another type than at+jwt or JWT")
}

// check decides whether the claims are those of an access token for this server.
func (p *Provider) check(c *claims, now time.Time) error {
	switch {
	case c.Nonce != "", c.AccessTokenHash != "", c.CodeHash != "", strings.EqualFold(c.Use, "id"), strings.EqualFold(c.Type, "id"):
		return invalid("this is an ID token, which tells a client who signed in: send the access token")
	case c.Type != "" && !strings.EqualFold(c.Type, "bearer"):
		return invalid("the token is of another type than Bearer")
	case len(c.Bound) > 0 && string(c.Bound) != "null":
		return invalid("the token is bound to a key of its sender (DPoP or mTLS), which this server does not check: ask for a bearer token")
	case math.IsNaN(float64(c.Expires)) || c.Expires <= 0 || c.Expires > farthest:
		return invalid("the token does not say when it expires")
	case !now.Before(c.Expires.time().Add(Skew)):
		return invalid("the token expired at " + c.Expires.time().UTC().Format(time.RFC3339))
	case c.NotBefore > farthest || now.Add(Skew).Before(c.NotBefore.time()):
		return invalid("the token is not valid yet: compare the clocks of this server and of the issuer")
	case !p.forUs(c):
		return invalid("the token is for another server: ask for one with the resource " + p.config.Resource)
	case !validOwner(c.Owner):
		return invalid("the token does not say for whom it is: it needs the claim " + p.config.OwnerClaim)
	}
	return nil
}

func validOwner(name string) bool {
	return name != "" && len(name) <= maxSubject && utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Shared reports whether a claim is known to be the same in tokens of different people, or to change
// with each token of a person.
func Shared(claim string) bool {
	return slices.Contains([]string{
		"acr", "amr", "appid", "aud", "auth_time", "azp", "cid", "client_id", "exp", "groups", "iat", "iss", "jti", "nbf", "roles", "scope", "scp", "sid", "tid", "typ", "ver",
	}, claim)
}

// forUs reports whether a token is for this server. Some providers have no audience in access
// tokens but the client.
func (p *Provider) forUs(c *claims) bool {
	if len(c.Audience) == 0 && c.Client != "" {
		return slices.Contains(p.config.Audiences, c.Client)
	}
	return slices.ContainsFunc(c.Audience, func(a string) bool {
		if slices.Contains(p.config.Audiences, a) {
			return true
		}
		if p.config.Resource == "" {
			return false
		}
		path, ok := strings.CutPrefix(strings.TrimRight(a, "/"), p.config.Resource)
		return ok && (path == "" || path == "/mcp" || strings.HasPrefix(path, "/mcp/"))
	})
}
