// Package auth says who sends a request, and how much they may do.
//
// A server that other machines can reach has an [Authenticator]: a file of tokens
// (package token), an OpenID Connect provider (package oidc), or both ([First]).
package auth

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// A Scope is how much a token allows. Each one includes those below it.
type Scope int

// The scopes, by what they allow.
const (
	None  Scope = iota // nothing
	Read               // to read and search the sessions of the token's owner
	Write              // to record thoughts and notes in them
	Admin              // to see the sessions of all owners
)

// scopeNames are the names of scopes without their prefix.
var scopeNames = [...]string{None: "", Read: "read", Write: "write", Admin: "admin"}

// String returns the name with the default prefix, such as sequent:read; empty for None.
func (s Scope) String() string { return ScopePrefix("").Name(s) }

// MarshalText returns what String returns; see [encoding.TextMarshaler].
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A ScopePrefix is what the names of scopes begin with at a provider. Empty means sequent: as in
// sequent:read. Some providers require the URL of the API in front, such as
// https://think.example.com/mcp/sequent.
type ScopePrefix string

const defaultPrefix ScopePrefix = "sequent:"

// Name returns the name by which clients ask for a scope; empty for None.
func (p ScopePrefix) Name(s Scope) string {
	if s == None {
		return ""
	}
	return string(cmp.Or(p, defaultPrefix)) + scopeNames[s]
}

// Names returns the names of a scope and of those that it includes, separated by spaces. A client
// that is told all of them asks for all, and does not lose one that it had.
func (p ScopePrefix) Names(s Scope) string {
	var names []string
	for i := Read; i <= s; i++ {
		names = append(names, p.Name(i))
	}
	return strings.Join(names, " ")
}

// Highest returns the highest scope among the names in a token. Names that are not sequent's are of
// no account. Providers that require the URL of the API in a request, such as Microsoft Entra,
// leave it out in tokens, so what follows the last slash of the prefix also counts.
func (p ScopePrefix) Highest(names []string) Scope {
	highest := None
	for s := Read; s <= Admin; s++ {
		name := p.Name(s)
		if slices.Contains(names, name) || slices.Contains(names, name[strings.LastIndexByte(name, '/')+1:]) {
			highest = s
		}
	}
	return highest
}

// Valid reports whether the names with the prefix are scopes (RFC 6749, section 3.3).
func (p ScopePrefix) Valid() bool {
	return len(p) <= 200 && !strings.ContainsFunc(string(p), func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// An Identity is who sends a request.
type Identity struct {
	Subject string    // owner of the sessions; never empty
	Scope   Scope     // the most that is allowed
	Expires time.Time // when the token ceases to be valid; zero means never
	Token   string    // what names the token in logs and does not reveal it: its id in a file, or its issuer; may be empty
}

// An Authenticator knows whose a bearer token is. It must be safe for concurrent use.
type Authenticator interface {
	// Identify returns who a token is for. For a token that is not valid the error is an
	// [*InvalidError]. Any other error means that the token cannot be checked now.
	Identify(ctx context.Context, token string) (Identity, error)
}

// A Guarantor is an Authenticator that also says for how long what was made with a token counts,
// such as a link to a session.
type Guarantor interface {
	Authenticator
	// Until returns until when something counts that was made at a time, with a token which
	// id names ([Identity.Token]); the zero time means without end. The error is an
	// [*InvalidError] if the token has expired or was revoked since, and any other error means
	// that this cannot be told now.
	Until(ctx context.Context, id string, made time.Time) (time.Time, error)
}

// Recheck returns who a token is for now, for a connection that it was checked for before. If
// it belongs to another subject meanwhile, the error is [ErrUnknown].
func Recheck(ctx context.Context, a Authenticator, token, subject string) (Identity, error) {
	who, err := a.Identify(ctx, token)
	if err == nil && who.Subject != subject {
		return Identity{}, ErrUnknown
	}
	return who, err
}

// An InvalidError is the error for a token or a sign-in that is not valid. The client sees the
// reason, which must not contain a part of a token.
type InvalidError struct{ Reason string }

// Error returns the reason.
func (e *InvalidError) Error() string { return e.Reason }

// ErrUnknown is the error for a token of which nothing is known.
var ErrUnknown = &InvalidError{Reason: "the token is not valid, or not any more"}

// First returns a Guarantor that takes the answer of the first one for which a token is
// not invalid. Of the reasons why it is, it returns the last.
func First(list ...Guarantor) Guarantor { return first(list) }

type first []Guarantor

func (f first) Identify(ctx context.Context, token string) (Identity, error) {
	return ask(f, func(a Guarantor) (Identity, error) { return a.Identify(ctx, token) })
}

func (f first) Until(ctx context.Context, id string, made time.Time) (time.Time, error) {
	return ask(f, func(a Guarantor) (time.Time, error) { return a.Until(ctx, id, made) })
}

// ask returns the first answer that is not that something is invalid.
func ask[T any](f first, question func(Guarantor) (T, error)) (answer T, err error) {
	err = ErrUnknown
	for _, a := range f {
		answer, err = question(a)
		if _, invalid := errors.AsType[*InvalidError](err); !invalid {
			break
		}
	}
	return answer, err
}

// Tokens are what a provider issues to a client when a person signs in.
type Tokens struct {
	Access  string    `json:"access"`            // sent to the server
	Refresh string    `json:"refresh,omitempty"` // exchanged for new tokens; empty if there is none
	Expires time.Time `json:"expires,omitzero"`  // of Access; zero if the provider does not say
	Scope   string    `json:"scope,omitempty"`   // names of what Access allows, separated by spaces; empty if it is what was asked for
}

// A Resource describes a server to clients that ask for tokens (RFC 9728).
type Resource struct {
	URL     string   // where clients reach the server, such as https://think.example.com; no slash at the end
	Issuers []string // of tokens
	SignIn  SignIn   // of the command line, at the first issuer
}

// A SignIn is how a program signs people in at a provider. The metadata of a server has it.
type SignIn struct {
	Client     string            `json:"client_id"` // empty if there is none
	Scopes     ScopePrefix       `json:"scope_prefix,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"` // of authorization requests, besides those of OAuth
}
