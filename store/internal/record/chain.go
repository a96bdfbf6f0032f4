package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sequent-dev/sequent"
)

// Hash returns the bytes of a hash, none if it is zero.
func Hash(h *sequent.Hash) []byte {
	if *h == (sequent.Hash{}) {
		return []byte{}
	}
	return h[:]
}

// Salt returns the bytes of a salt, none if it is zero.
func Salt(s *sequent.Salt) []byte {
	if *s == (sequent.Salt{}) {
		return []byte{}
	}
	return s[:]
}

// ParseHash sets h to the result of [Hash].
func ParseHash(h *sequent.Hash, b []byte) error { return parseBytes(h[:], b) }

// ParseSalt sets s to the result of [Salt].
func ParseSalt(s *sequent.Salt, b []byte) error { return parseBytes(s[:], b) }

func parseBytes(to, b []byte) error {
	switch len(b) {
	case 0:
		clear(to)
	case len(to):
		copy(to, b)
	default:
		return fmt.Errorf("%d bytes instead of %d", len(b), len(to))
	}
	return nil
}

// ParseProof sets the salt, hash and masked texts of e to the results of [Salt],
// [Hash] and [Masked].
func ParseProof(e *sequent.Entry, salt, hash []byte, masked string) error {
	return errors.Join(ParseMasked(e, masked), ParseSalt(&e.Salt, salt), ParseHash(&e.Hash, hash))
}

// ParseMasked sets the masked texts of e to the result of [Masked].
func ParseMasked(e *sequent.Entry, masked string) error {
	if masked == "" {
		return nil
	}
	return json.Unmarshal([]byte(masked), &e.Masked)
}

// Body returns the body of an entry as a JSON object.
func Body(b sequent.Body) string { return object(b) }

// ParseBody parses the result of [Body].
func ParseBody(s string) (b sequent.Body, err error) {
	err = json.Unmarshal([]byte(s), &b)
	return b, err
}

// Masked returns the digests of masked texts as a JSON object, or "" if there are none.
func Masked(m map[string]sequent.Hash) string {
	if len(m) == 0 {
		return ""
	}
	return object(m)
}

func object(m any) string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // json.Marshal does not fail for the values of a Body
	}
	return string(b)
}

// Others returns the number of entries that are not thoughts among entries.
func Others(entries []sequent.Entry) (n int) {
	for i := range entries {
		if entries[i].Kind != sequent.KindThought {
			n++
		}
	}
	return n
}

// Merge returns thoughts and other entries in the order of the log. Both are in order.
// A thought without proof keeps its place among the thoughts.
func Merge(thoughts, others []sequent.Entry) []sequent.Entry {
	if len(others) == 0 {
		return thoughts
	}
	log := make([]sequent.Entry, 0, len(thoughts)+len(others))
	for i := range thoughts {
		for len(others) > 0 && thoughts[i].Proven() && others[0].Place < thoughts[i].Place {
			log, others = append(log, others[0]), others[1:]
		}
		log = append(log, thoughts[i])
	}
	return append(log, others...)
}
