package record

import (
	"fmt"

	"github.com/sequent-dev/sequent"
)

// Share returns the share of a row, without By and Mask.
func Share(hash []byte, k sequent.Key, created, expires int64) (sequent.Share, error) {
	s := sequent.Share{Key: k, Created: Time(created), Expires: Time(expires)}
	if len(hash) != len(s.Hash) {
		return s, fmt.Errorf("the hash of a share has %d bytes", len(hash))
	}
	copy(s.Hash[:], hash)
	return s, nil
}
