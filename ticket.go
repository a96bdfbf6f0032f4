package sequent

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"time"
)

// A Ticket hands a value from one process to another, once. Whoever has its secret takes the
// value. Stores keep tickets apart from sessions, and cannot read the values.
type Ticket struct {
	Hash    [32]byte // SHA-256 of the secret
	Sealed  []byte   // the value, encrypted with a key that follows from the secret
	Created time.Time
	Expires time.Time
}

// NewTicket keeps a value until it is taken, for a lifetime, and returns the secret that takes it.
// The secret is stored nowhere.
func (e *Engine) NewTicket(ctx context.Context, value []byte, lifetime time.Duration) (secret string, err error) {
	store, err := e.shares()
	if err != nil {
		return "", err
	}
	secret = rand.Text() // 130 bits
	seal, err := sealOf(secret)
	if err != nil {
		return "", err
	}
	t := Ticket{Hash: sha256.Sum256([]byte(secret)), Sealed: seal.Seal(nil, nil, value, nil), Created: e.Now()}
	t.Expires = t.Created.Add(lifetime)
	return secret, store.AddTicket(ctx, t)
}

// TakeTicket returns the value of the ticket with a secret, which is used up. If there is none, or
// none any more, the error matches [ErrNotFound].
func (e *Engine) TakeTicket(ctx context.Context, secret string) ([]byte, error) {
	store, err := e.shares()
	if err != nil {
		return nil, err
	}
	t, err := store.TakeTicket(ctx, sha256.Sum256([]byte(secret)))
	if err != nil {
		return nil, err
	}
	if !t.Expires.After(e.Now()) {
		return nil, NoTicket()
	}
	seal, err := sealOf(secret)
	if err != nil {
		return nil, err
	}
	value, err := seal.Open(nil, nil, t.Sealed, nil)
	if err != nil {
		return nil, errors.Join(NoTicket(), err)
	}
	return value, nil
}

// sealOf returns the cipher for the value of a ticket. Each key encrypts one value.
func sealOf(secret string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, "sequent ticket", 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// NoTicket returns the error of a store for a ticket that does not exist.
func NoTicket() error {
	return &Error{Code: CodeSessionNotFound, Field: "code", Msg: "this code is not valid, or was used", Fix: "ask for a new code"}
}
