package postgres

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// coded begins a text that PostgreSQL could not hold as it is.
const coded = "\x01base64:"

// pack returns a text in a form that PostgreSQL can hold. It is the text itself
// but for those that are not UTF-8, hold U+0000, or look as if they were packed.
func pack(s string) string {
	if strings.IndexByte(s, 0) < 0 && !strings.HasPrefix(s, coded) && utf8.ValidString(s) {
		return s
	}
	return coded + base64.RawStdEncoding.EncodeToString([]byte(s))
}

// unpack returns the text that was packed.
func unpack(s string) (string, error) {
	rest, ok := strings.CutPrefix(s, coded)
	if !ok {
		return s, nil
	}
	b, err := base64.RawStdEncoding.DecodeString(rest)
	if err != nil {
		return "", corrupt("a text in the store is not what was stored", err)
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

func packTime(t time.Time) int64 { return t.UnixMicro() }

func unpackTime(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// packExpiry returns nil for never.
func packExpiry(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	micros := packTime(t)
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

func unpackRef(n *int64) sequent.Ref {
	if n == nil {
		return sequent.Ref{}
	}
	return sequent.To(int(*n))
}

// packLabels is for labels that checkLabels has passed.
func packLabels(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	b, err := json.Marshal(labels)
	if err != nil {
		panic(err) // a map of strings always has a JSON form
	}
	return string(b)
}

func unpackLabels(s string) (labels map[string]string, err error) {
	if s == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(s), &labels); err != nil {
		return nil, corrupt("labels in the store are not what was stored", err)
	}
	return labels, nil
}

// checkLabels refuses what JSON would change.
func checkLabels(labels map[string]string) error {
	for k, v := range labels {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return &sequent.Error{
				Code: sequent.CodeInvalidSession, Field: "labels",
				Msg: "a label is not valid UTF-8", Fix: "use UTF-8",
			}
		}
	}
	return nil
}
