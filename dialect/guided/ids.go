package guided

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sequent-dev/sequent"
)

// idLetters are Crockford's base32 in lower case: no i, l, o or u.
const idLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// idLen letters hold 60 bits. Callers of this dialect never see an id; whoever
// goes on with the session elsewhere writes it often.
const idLen = 12

// mint returns a new session id.
func mint(random io.Reader) (sequent.ID, error) {
	var raw [8]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("guided: no random bytes for an id: %w", err)
	}
	bits := binary.LittleEndian.Uint64(raw[:])
	var id [idLen]byte
	for i := range id {
		id[i] = idLetters[bits&31]
		bits >>= 5
	}
	return sequent.ID(id[:]), nil
}
