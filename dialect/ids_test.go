package dialect_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"testing"
	"time"

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

func TestUUIDs(t *testing.T) {
	form := regexp.MustCompile(`^019aa122-2c7b-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	newID := dialect.UUIDs(nil, func() time.Time { return time.UnixMilli(0x019aa1222c7b) })
	one, err := newID()
	other, otherErr := newID()
	if err != nil || otherErr != nil || one == other || !form.MatchString(string(one)) || !form.MatchString(string(other)) {
		t.Errorf("UUIDs = %q, %v, and %q, %v; want %s", one, err, other, otherErr, form)
	}
	if _, err := dialect.UUIDs(bytes.NewReader(nil), time.Now)(); !errors.Is(err, io.EOF) {
		t.Errorf("without randomness: %v", err)
	}
}
