package dialect_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
)

func TestShortIDs(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{12}$`)
	seen := make(map[sequent.ID]bool)
	for newID := dialect.ShortIDs(nil); len(seen) < 1000; {
		id, err := newID()
		if err != nil || !form.MatchString(string(id)) || seen[id] {
			t.Fatalf("ShortIDs = %q, %v; seen before: %v", id, err, seen[id])
		}
		seen[id] = true
	}
	for _, tt := range []struct {
		raw  []byte
		want sequent.ID
	}{
		{make([]byte, 8), "000000000000"},
		{[]byte{8, 0, 0, 0, 0, 0, 0, 0}, "100000000000"},
		{bytes.Repeat([]byte{0xff}, 8), "zzzzzzzzzzzz"},
	} {
		if id, err := dialect.ShortIDs(bytes.NewReader(tt.raw))(); id != tt.want || err != nil {
			t.Errorf("ShortIDs from %x = %q, %v, want %q", tt.raw, id, err, tt.want)
		}
	}
	if _, err := dialect.ShortIDs(bytes.NewReader(nil))(); !errors.Is(err, io.EOF) {
		t.Errorf("without randomness: %v", err)
	}
}
