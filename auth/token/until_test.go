package token

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/auth"
)

// TestUntil checks for how long what tokens have made counts.
func TestUntil(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	var ids []string
	for _, expires := range []time.Time{{}, soon, time.Now().Add(-time.Hour)} {
		secret, _, err := Add(path, Info{Subject: "alice", Expires: expires})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ID(secret))
	}
	f, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []time.Time{{}, soon} {
		if got, err := f.Until(t.Context(), ids[i], time.Now()); err != nil || !got.Equal(want) {
			t.Errorf("token %d: %v, %v; want %v", i, got, err, want)
		}
	}
	for _, id := range []string{ids[2], "", "none", "https://login.example.com"} {
		_, err := f.Until(t.Context(), id, time.Now())
		if _, invalid := errors.AsType[*auth.InvalidError](err); !invalid {
			t.Errorf("%q: %v", id, err)
		}
	}
}
