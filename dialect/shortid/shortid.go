// Package shortid generates session ids that cost a model few tokens to repeat in
// every call: 12 characters are 8 tokens, a UUID is 23.
package shortid

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sequent-dev/sequent"
)

// letters are Crockford's base32 in lower case: no i, l, o or u.
const letters = "0123456789abcdefghjkmnpqrstvwxyz"

// length letters hold 60 bits.
const length = 12

// New returns a generator of ids of 60 bits: 12 digits and lower-case letters. Random is
// the source; nil means crypto/rand. Errors are those of random. Two ids are equal with a
// probability of 2^-60, so begin sessions with package scope, which tries another id.
func New(random io.Reader) func() (sequent.ID, error) {
	if random == nil {
		random = rand.Reader
	}
	return func() (sequent.ID, error) {
		var raw [8]byte
		if _, err := io.ReadFull(random, raw[:]); err != nil {
			return "", fmt.Errorf("shortid: no random bytes: %w", err)
		}
		bits := binary.LittleEndian.Uint64(raw[:])
		var id [length]byte
		for i := range id {
			id[i] = letters[bits&31]
			bits >>= 5
		}
		return sequent.ID(id[:]), nil
	}
}
