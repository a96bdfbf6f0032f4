package postgres

import (
	"encoding/base64"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// encodedPrefix marks an encoded text.
const encodedPrefix = "\x01base64:"

// pack returns a text in a form that PostgreSQL can store. Texts that are not UTF-8,
// contain U+0000 or begin with the prefix are encoded, others are unchanged.
func pack(s string) string {
	if strings.IndexByte(s, 0) < 0 && !strings.HasPrefix(s, encodedPrefix) && utf8.ValidString(s) {
		return s
	}
	return encodedPrefix + base64.RawStdEncoding.EncodeToString([]byte(s))
}

// unpack reverses pack.
func unpack(s string) (string, error) {
	rest, ok := strings.CutPrefix(s, encodedPrefix)
	if !ok {
		return s, nil
	}
	b, err := base64.RawStdEncoding.DecodeString(rest)
	if err != nil {
		return "", corrupt("a text in the store is damaged", err)
	}
	return string(b), nil
}

// unpackAll unpacks texts in place.
func unpackAll(texts ...*string) error {
	for _, s := range texts {
		var err error
		if *s, err = unpack(*s); err != nil {
			return err
		}
	}
	return nil
}

// packExpiry returns t in microseconds, or nil if t is zero.
func packExpiry(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	micros := record.Micros(t)
	return &micros
}

func packRef(r sequent.Ref) *int64 {
	n, ok := r.Number()
	if !ok {
		return nil
	}
	wide := int64(n)
	return &wide
}

func unpackLabels(s string) (map[string]string, error) {
	labels, err := record.ParseLabels(s)
	if err != nil {
		return nil, corrupt("labels in the store are damaged", err)
	}
	return labels, nil
}
