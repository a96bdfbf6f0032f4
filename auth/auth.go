// Package auth says who sends a request, and how much they may do.
//
// A server that other machines can reach has an [Authenticator]: a file of tokens
// (package token), an OpenID Connect provider (package oidc), or both ([First]).
package auth

import (
	"context"
	"errors"
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

// scopeNames are the names in tokens and challenges.
var scopeNames = [...]string{None: "", Read: "sequent:read", Write: "sequent:write", Admin: "sequent:admin"}

// String returns the name, such as sequent:read; empty for None.
func (s Scope) String() string { return scopeNames[s] }

// Names returns the names of the scope and of those that it includes, separated by spaces.
// A client that is told all of them asks for all, and does not lose one that it had.
func (s Scope) Names() string { return strings.Join(scopeNames[Read:s+1], " ") }

// Highest returns the highest scope among names. Names that are not sequent's are of no
// account.
func Highest(names []string) Scope {
	highest := None
	for _, name := range names {
		for s := Read; s <= Admin; s++ {
			if name == scopeNames[s] {
				highest = max(highest, s)
			}
		}
	}
	return highest
}

// An Identity is who sends a request.
type Identity struct {
	Subject string    // owner of the sessions; never empty
	Scope   Scope     // the most that is allowed
	Expires time.Time // when the token ceases to be valid; zero means never
}

// An Authenticator knows whose a bearer token is. It must be safe for concurrent use.
type Authenticator interface {
	// Identify returns who a token is for. For a token that is not valid the error is an
	// [*InvalidError]. Any other error means that the token cannot be checked now.
	Identify(ctx context.Context, token string) (Identity, error)
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

// An InvalidError is the error for a token that is not valid. The client sees the reason,
// which must not contain a part of the token.
type InvalidError struct{ Reason string }

// Error returns the reason.
func (e *InvalidError) Error() string { return e.Reason }

// ErrUnknown is the error for a token of which nothing is known.
var ErrUnknown = &InvalidError{Reason: "the token is not valid, or not any more"}

// First returns an Authenticator that takes the answer of the first one for which a token is
// not invalid. Of the reasons why it is, it returns the last.
func First(list ...Authenticator) Authenticator { return first(list) }

type first []Authenticator

func (f first) Identify(ctx context.Context, token string) (Identity, error) {
	var err error = ErrUnknown
	for _, a := range f {
		var who Identity
		who, err = a.Identify(ctx, token)
		if _, invalid := errors.AsType[*InvalidError](err); !invalid {
			return who, err
		}
	}
	return Identity{}, err
}

// A Resource describes a server to clients that ask for tokens (RFC 9728).
type Resource struct {
	URL     string   // where clients reach the server, such as https://think.example.com; no slash at the end
	Issuers []string // of tokens
}
