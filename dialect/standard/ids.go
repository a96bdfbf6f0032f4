package standard

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sequent-dev/sequent"
)

// idLetters are Crockford's base32 in lower case: no i, l, o or u.
const idLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// idLen letters hold 60 bits. A model writes the id in every call; this many
// cost it 8 tokens, a UUID 23.
const idLen = 12

// mint returns a new session id.
func mint(random io.Reader) (sequent.ID, error) {
	var raw [8]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("standard: no random bytes for an id: %w", err)
	}
	bits := binary.LittleEndian.Uint64(raw[:])
	var id [idLen]byte
	for i := range id {
		id[i] = idLetters[bits&31]
		bits >>= 5
	}
	return sequent.ID(id[:]), nil
}
