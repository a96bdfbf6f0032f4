package dialect

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/sequent-dev/sequent"
)

// idLetters are Crockford's base32 in lower case: no i, l, o or u.
var idLetters = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz")

// ShortIDs returns a generator of session ids that cost a model few tokens to repeat in every
// call: 12 digits and lower-case letters, 60 bits, are 8 tokens, a UUID is 23. Random is the
// source; nil means crypto/rand. Errors are those of random. Two ids are equal with a
// probability of 2^-60, so begin sessions with package scope, which tries another id.
func ShortIDs(random io.Reader) func() (sequent.ID, error) {
	if random == nil {
		random = rand.Reader
	}
	return func() (sequent.ID, error) {
		var raw [8]byte
		if _, err := io.ReadFull(random, raw[:]); err != nil {
			return "", fmt.Errorf("dialect: no random bytes: %w", err)
		}
		return sequent.ID(idLetters.EncodeToString(raw[:])[:12]), nil
	}
}

// UUIDs returns a generator of session ids that are UUIDs of version 7 (RFC 9562), which
// begin with the time of now in milliseconds and end in random bits. Random is the source;
// nil means crypto/rand. Errors are those of random.
func UUIDs(random io.Reader, now func() time.Time) func() (sequent.ID, error) {
	if random == nil {
		random = rand.Reader
	}
	return func() (sequent.ID, error) {
		var raw [16]byte
		if _, err := io.ReadFull(random, raw[:]); err != nil {
			return "", fmt.Errorf("dialect: no random bytes: %w", err)
		}
		milli := uint64(now().UnixMilli())
		binary.BigEndian.PutUint16(raw[0:], uint16(milli>>32))
		binary.BigEndian.PutUint32(raw[2:], uint32(milli))
		raw[6] = raw[6]&0x0f | 0x70 // version
		raw[8] = raw[8]&0x3f | 0x80 // variant
		return sequent.ID(fmt.Sprintf("%x-%x-%x-%x-%x", raw[0:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])), nil
	}
}
