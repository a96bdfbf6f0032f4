package history

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/sequent-dev/sequent"
)

// mint returns a new session id: a UUID of version 7 (RFC 9562), which begins with the
// time in milliseconds and ends in random bits.
func mint(now time.Time, random io.Reader) (sequent.ID, error) {
	var raw [16]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("history: no random bytes for an id: %w", err)
	}
	milli := uint64(now.UnixMilli())
	binary.BigEndian.PutUint16(raw[0:], uint16(milli>>32))
	binary.BigEndian.PutUint32(raw[2:], uint32(milli))
	raw[6] = raw[6]&0x0f | 0x70 // version
	raw[8] = raw[8]&0x3f | 0x80 // variant
	return sequent.ID(fmt.Sprintf("%x-%x-%x-%x-%x", raw[0:4], raw[4:6], raw[6:8], raw[8:10], raw[10:])), nil
}
