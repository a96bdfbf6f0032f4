package oidc

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

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

	header string // the type in the header, in lower case
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
	err := list.UnmarshalJSON(data)
	*w = strings.Fields(strings.Join(list, " "))
	return err
}

// seconds is a time as seconds since 1970; 0 means none.
type seconds float64

func (s seconds) time() time.Time { return time.Unix(int64(s), 0) }

// farthest is the last time that a token may name: the end of the year 9999.
const farthest = 253402300799

// parseClaims reads the claims of a token whose signature has not been checked. That of the name owner
// says whose sessions it is for.
func parseClaims(jws *jose.JSONWebSignature, owner string) (*claims, error) {
	header, _ := jws.Signatures[0].Header.ExtraHeaders[jose.HeaderType].(string)
	c := &claims{header: strings.TrimPrefix(strings.ToLower(header), "application/")}
	var all map[string]json.RawMessage
	payload := jws.UnsafePayloadWithoutVerification()
	err := errors.Join(json.Unmarshal(payload, c), json.Unmarshal(payload, &all))
	if text, ok := all[owner]; ok && err == nil {
		err = json.Unmarshal(text, &c.Owner)
	}
	if err != nil {
		return nil, invalid("the claims of the token are not what a JWT has")
	}
	return c, nil
}

// bearer reports whether a token is an access token that its sender need not prove to own. Many
// providers do not say what a token is.
func (c *claims) bearer() bool {
	isID := c.Nonce != "" || c.AccessTokenHash != "" || c.CodeHash != "" || strings.EqualFold(c.Use, "id")
	return !isID && slices.Contains([]string{"", "jwt", "at+jwt"}, c.header) && (c.Type == "" || strings.EqualFold(c.Type, "bearer")) &&
		(len(c.Bound) == 0 || string(c.Bound) == "null")
}

// check decides whether the claims are those of an access token for this server.
func (p *Provider) check(c *claims, now time.Time) error {
	switch {
	case !c.bearer():
		return invalid("this is no bearer access token, but an ID token, for example, or bound to a key: send an access token")
	case c.Expires <= 0 || c.Expires > farthest:
		return invalid("the token does not say when it expires")
	case !now.Before(c.Expires.time().Add(Skew)):
		return invalid("the token expired at " + c.Expires.time().UTC().Format(time.RFC3339))
	case c.NotBefore > farthest || now.Add(Skew).Before(c.NotBefore.time()):
		return invalid("the token is not valid yet: compare the clocks of this server and of the issuer")
	case !p.forUs(c):
		return invalid("the token is for another server: ask for one with the resource " + p.config.Resource)
	case c.Owner == "" || len(c.Owner) > maxSubject || strings.ContainsFunc(c.Owner, func(r rune) bool { return !unicode.IsPrint(r) }):
		return invalid("the token does not say for whom it is: it needs the claim " + p.config.OwnerClaim)
	}
	return nil
}

// forUs reports whether a token is for this server. Some providers have no audience in access
// tokens but the client.
func (p *Provider) forUs(c *claims) bool {
	if len(c.Audience) == 0 && c.Client != "" {
		return slices.Contains(p.config.Audiences, c.Client)
	}
	return slices.ContainsFunc(c.Audience, func(a string) bool {
		path, ok := strings.CutPrefix(strings.TrimRight(a, "/"), p.config.Resource)
		return slices.Contains(p.config.Audiences, a) || ok && (path == "" || path == "/mcp" || strings.HasPrefix(path, "/mcp/"))
	})
}
