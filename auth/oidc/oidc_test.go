package oidc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/sequent-dev/sequent/auth"
)

const resource = "https://think.example.com"

// An issuer is a provider with real keys, of which only discovery and keys are served. The
// tests of e2e/oidc have a whole one.
type issuer struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	keys    []jose.JSONWebKey // public
	private map[string]*ecdsa.PrivateKey
	away    bool
	fetched atomic.Int32
}

func newIssuer(t *testing.T) *issuer {
	p := &issuer{t: t, private: make(map[string]*ecdsa.PrivateKey)}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.away {
			http.Error(w, "the provider is being upgraded", http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"authorization_endpoint":"x","token_endpoint":"y","id_token_signing_alg_values_supported":["ES256"]}`,
			p.URL, p.URL+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		p.fetched.Add(1)
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: p.keys})
	})
	p.rotate("one")
	return p
}

// rotate adds a key, and forgets the others.
func (p *issuer) rotate(id string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.private[id] = key
	p.keys = []jose.JSONWebKey{{Key: key.Public(), KeyID: id, Algorithm: "ES256", Use: "sig"}}
}

func (p *issuer) leave(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

// A change is what a token has instead of what it should; nil takes a claim away.
type change map[string]any

// token returns a token that is valid but for the changes.
func (p *issuer) token(key string, c change) string {
	all := map[string]any{
		"iss": p.URL, "sub": "alice", "aud": resource + "/mcp", "scope": "openid sequent:read sequent:write",
		"exp": time.Now().Add(time.Hour).Unix(), "client_id": "editor",
	}
	maps.Copy(all, c)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	payload, err := json.Marshal(all)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.sign(key, "at+jwt", payload)
}

func (p *issuer) sign(key, typ string, payload []byte) string {
	o := new(jose.SignerOptions).WithHeader("kid", key)
	if typ != "" {
		o = o.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: p.private[key]}, o)
	if err != nil {
		p.t.Fatal(err)
	}
	return compact(p.t, signer, payload)
}

func compact(t *testing.T, s jose.Signer, payload []byte) string {
	t.Helper()
	jws, err := s.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func open(t *testing.T, p *issuer) *Provider {
	t.Helper()
	o, err := New(Config{Issuer: p.URL, Resource: resource, Audiences: []string{"api://think"}})
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	o := open(t, p)
	now := time.Now()
	for name, c := range map[string]struct {
		change change
		want   auth.Scope
	}{
		"usual":                   {nil, auth.Write},
		"root of the server":      {change{"aud": resource}, auth.Write},
		"a slash at the end":      {change{"aud": resource + "/mcp/"}, auth.Write},
		"an endpoint":             {change{"aud": []string{"https://other.example.com", resource + "/mcp/wiki"}}, auth.Write},
		"configured audience":     {change{"aud": "api://think"}, auth.Write},
		"only the client":         {change{"aud": nil, "client_id": "api://think"}, auth.Write},
		"scopes of Entra":         {change{"scope": nil, "scp": "sequent:read"}, auth.Read},
		"scopes of Okta":          {change{"scope": nil, "scp": []string{"sequent:read", "sequent:admin"}}, auth.Admin},
		"no scope of ours":        {change{"scope": "openid profile sequent sequent:all"}, auth.None},
		"no scope":                {change{"scope": nil}, auth.None},
		"expired within the skew": {change{"exp": now.Add(-20 * time.Second).Unix()}, auth.Write},
		"begins within the skew":  {change{"nbf": now.Add(20 * time.Second).Unix()}, auth.Write},
		"type of Keycloak":        {change{"typ": "Bearer"}, auth.Write},
		"fraction of a second":    {change{"exp": float64(now.Add(time.Hour).Unix()) + 0.5}, auth.Write},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, err := o.Identify(t.Context(), p.token("one", c.change))
			if err != nil || who.Subject != "oidc:alice" || who.Scope != c.want || who.Expires.IsZero() {
				t.Errorf("got %+v, %v; want scope %v", who, err, c.want)
			}
		})
	}
}

// Tokens for other servers, and tokens without a subject, are refused. The reason does not
// contain a part of the token.
func TestHostileTokens(t *testing.T) {
	t.Parallel()
	p, other := newIssuer(t), newIssuer(t)
	o := open(t, p)
	now := time.Now()
	valid := p.token("one", nil)
	parts := strings.Split(valid, ".")
	hmac, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("k", 32))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload := []byte(`{"iss":"` + p.URL + `","sub":"alice","aud":"` + resource + `","exp":99999999999}`)
	tokens := map[string]struct{ token, reason string }{
		"none":                  {"eyJhbGciOiJub25lIn0." + parts[1] + ".", "no JWT"},
		"HMAC":                  {compact(t, hmac, payload), "no JWT"},
		"signature of another":  {parts[0] + "." + parts[1] + "." + strings.Split(p.token("one", change{"sub": "bob"}), ".")[2], "not signed with a key"},
		"cut off":               {valid[:len(valid)-8], "not signed with a key"},
		"another provider":      {other.token("one", nil), "of another issuer"},
		"another's key":         {other.token("one", change{"iss": p.URL}), "not signed with a key"},
		"unknown key":           {strings.Replace(valid, parts[0], "eyJhbGciOiJFUzI1NiIsImtpZCI6Im5vIn0", 1), "not signed with a key"},
		"issuer with a slash":   {p.token("one", change{"iss": p.URL + "/"}), "of another issuer"},
		"expired":               {p.token("one", change{"exp": now.Add(-31 * time.Second).Unix()}), "expired at"},
		"no expiry":             {p.token("one", change{"exp": nil}), "when it expires"},
		"expiry as text":        {p.token("one", change{"exp": "tomorrow"}), "claims"},
		"expires in ages":       {p.token("one", change{"exp": 1e300}), "when it expires"},
		"not yet":               {p.token("one", change{"nbf": now.Add(time.Minute).Unix()}), "not valid yet"},
		"no audience":           {p.token("one", change{"aud": nil, "client_id": nil}), "another server"},
		"client as audience":    {p.token("one", change{"aud": "editor"}), "another server"},
		"prefix as audience":    {p.token("one", change{"aud": resource + ".evil.example"}), "another server"},
		"another path":          {p.token("one", change{"aud": resource + "/mcpx"}), "another server"},
		"ID token with a nonce": {p.token("one", change{"nonce": "n"}), "ID token"},
		"ID token with at_hash": {p.token("one", change{"at_hash": "h"}), "ID token"},
		"ID token of Cognito":   {p.token("one", change{"token_use": "id"}), "ID token"},
		"ID token of Keycloak":  {p.token("one", change{"typ": "ID"}), "ID token"},
		"refresh token":         {p.token("one", change{"typ": "Refresh"}), "no bearer access token"},
		"logout token":          {p.sign("one", "logout+jwt", payload), "no bearer access token"},
		"ID token by type":      {p.sign("one", "id_token+jwt", payload), "no bearer access token"},
		"no issuer":             {p.token("one", change{"iss": nil}), "of another issuer"},
		"bound to a key":        {p.token("one", change{"cnf": map[string]string{"jkt": "x"}}), "bound to a key"},
		"nobody":                {p.token("one", change{"sub": nil}), "for whom"},
		"long subject":          {p.token("one", change{"sub": strings.Repeat("a", 256)}), "for whom"},
		"control characters":    {p.token("one", change{"sub": "al\u202eice"}), "for whom"},
		"subject is a number":   {p.token("one", change{"sub": 7}), "claims"},
		"no JSON":               {p.sign("one", "", []byte("hello")), "claims"},
		"an array":              {p.sign("one", "", []byte("[]")), "claims"},
		"no JWT":                {"a.b.c", "no JWT"},
		"one part":              {"sequent_ABC", "not valid"},
		"encrypted":             {"a.b.c.d.e", "not valid"},
		"huge":                  {strings.Repeat("a", maxToken) + "..", "not valid"},
	}
	for name, c := range tokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			who, err := o.Identify(t.Context(), c.token)
			e, ok := errors.AsType[*auth.InvalidError](err)
			if !ok || !strings.Contains(e.Reason, c.reason) || who != (auth.Identity{}) {
				t.Errorf("got %+v, %v; want an error with %q", who, err, c.reason)
			}
		})
	}
}

// A new key is fetched when a token needs it. An unknown key is no reason to ask each time,
// and a provider that is away no reason to refuse those whose keys are known.
func TestKeys(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	o := open(t, p)
	p.leave(true)
	old := p.token("one", nil)
	if _, err := o.Identify(t.Context(), old); err == nil || isInvalid(err) {
		t.Errorf("before the provider was there: %v", err)
	}
	p.leave(false)
	o.failed = time.Time{} // as if retryInterval had passed
	if _, err := o.Identify(t.Context(), old); err != nil {
		t.Errorf("the provider is there: %v", err)
	}
	p.rotate("two")
	next := p.token("two", nil)
	await(t, o, next, func(err error) bool { return err == nil }) // after the rotation
	await(t, o, old, isInvalid)
	p.leave(true)
	if _, err := o.Identify(t.Context(), next); err != nil {
		t.Errorf("a known key, the provider is away: %v", err)
	}
	await(t, o, old, isUnavailable)
	p.leave(false)
	await(t, o, old, isInvalid)
	before := p.fetched.Load()
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := o.Identify(t.Context(), old); !isInvalid(err) {
				t.Errorf("an unknown key: %v", err)
			}
		})
	}
	wg.Wait()
	if n := p.fetched.Load() - before; n > 5 {
		t.Errorf("50 tokens with an unknown key had the keys fetched %d times", n)
	}
	p.Close()
	await(t, o, old, isUnavailable)
}

// await waits until a token is answered so. Callers share a request for keys, and one that comes a
// moment after the first has got them gets the same ones.
func await(t *testing.T, o *Provider, token string, want func(error) bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, err := o.Identify(t.Context(), token)
		if want(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %v", err)
		}
	}
}

func isUnavailable(err error) bool { return err != nil && !isInvalid(err) }

func isInvalid(err error) bool {
	_, ok := errors.AsType[*auth.InvalidError](err)
	return ok
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{
		{}, {Issuer: "login.example.com", Resource: resource}, {Issuer: "http://login.example.com", Resource: resource},
		{Issuer: "https://u:p@login.example.com", Resource: resource}, {Issuer: "https://login.example.com?a", Resource: resource},
		{Issuer: "https://login.example.com"},
		{Issuer: "https://login.example.com", Resource: resource, OwnerClaim: "tid"},
		{Issuer: "https://login.example.com", Resource: resource, Scopes: `a"`},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) = nil, want an error", cfg)
		}
	}
	if _, err := New(Config{Issuer: "http://127.0.0.1:9000/", Resource: resource}); err != nil {
		t.Error(err)
	}
}

// TestUntil checks that a link of the issuer's token counts for a day, and one of another's not.
func TestUntil(t *testing.T) {
	t.Parallel()
	p, err := New(Config{Issuer: "https://login.example.com", Resource: "https://think.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	made := time.Now().Add(-time.Hour)
	if got, err := p.Until(t.Context(), "https://login.example.com", made); err != nil || !got.Equal(made.Add(24*time.Hour)) {
		t.Errorf("%v, %v", got, err)
	}
	for _, id := range []string{"", "https://other.example.com", "0123456789ab"} {
		_, err := p.Until(t.Context(), id, made)
		if _, invalid := errors.AsType[*auth.InvalidError](err); !invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
}
