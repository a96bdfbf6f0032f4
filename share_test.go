package sequent_test

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// A share admits whoever has its secret until it expires or is revoked, and an owner sees
// those of its own sessions only.
func TestShare(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	e := sequent.New(sequent.Config{Now: func() time.Time { return now }})
	ann, bob := e.Owned("ann"), e.Owned("bob")
	if _, err := ann.Begin(t.Context(), "plan", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "One.", More: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bob.Share(t.Context(), "plan", sequent.ShareConfig{By: "bob"}); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("bob shares ann's session: %v", err)
	}
	for _, lifetime := range []time.Duration{-time.Hour, time.Millisecond, sequent.MaxShare + 1} {
		if _, _, err := ann.Share(t.Context(), "plan", sequent.ShareConfig{Lifetime: lifetime, By: "ann"}); sequent.CodeOf(err) != sequent.CodeInvalidQuery {
			t.Errorf("for %s: %v", lifetime, err)
		}
	}
	secret, share, err := ann.Share(t.Context(), "plan", sequent.ShareConfig{By: "ann\n", Mask: "secrets"})
	if err != nil || len(secret) < 26 || strings.Contains(secret, share.ID()) || share.By != "ann" || share.Mask != "secrets" || share.Expires.Sub(now) != sequent.DefaultShare {
		t.Fatalf("%q %+v, %v", secret, share, err)
	}
	if found, err := bob.Shared(t.Context(), secret); err != nil || found != share {
		t.Errorf("found %+v, %v", found, err)
	}
	for _, wrong := range []string{"", share.ID(), secret[1:], strings.ToLower(secret)} {
		if _, err := e.Shared(t.Context(), wrong); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("with %q: %v", wrong, err)
		}
	}
	if list, err := bob.Shares(t.Context(), sequent.ShareQuery{AllOwners: true}); err != nil || len(list) != 0 {
		t.Errorf("bob sees %v, %v", list, err)
	}
	if _, err := bob.Unshare(t.Context(), share.ID(), sequent.ShareQuery{AllOwners: true}); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("bob revokes: %v", err)
	}
	for n := 1; n < sequent.MaxShares; n++ {
		if _, _, err := ann.Share(t.Context(), "plan", sequent.ShareConfig{By: "ann"}); err != nil {
			t.Fatalf("share %d: %v", n+1, err)
		}
	}
	if _, _, err := ann.Share(t.Context(), "plan", sequent.ShareConfig{By: "ann"}); sequent.CodeOf(err) != sequent.CodeLimitExceeded {
		t.Errorf("more than %d shares: %v", sequent.MaxShares, err)
	}
	now = share.Expires
	if _, err := e.Shared(t.Context(), secret); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("expired: %v", err)
	}
	secret, share, err = ann.Share(t.Context(), "plan", sequent.ShareConfig{Lifetime: sequent.MaxShare, By: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if revoked, err := e.Unshare(t.Context(), share.ID(), sequent.ShareQuery{AllOwners: true}); err != nil || revoked != share {
		t.Errorf("the administrator revokes %+v, %v", revoked, err)
	}
	if _, err := e.Shared(t.Context(), secret); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("revoked: %v", err)
	}
}

// A ticket hands its value over once, until it expires, and the store cannot read the value.
func TestTicket(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	store := sequent.NewMemoryStore()
	e := sequent.New(sequent.Config{Store: store, Now: func() time.Time { return now }})
	fresh := func() string {
		t.Helper()
		secret, err := e.NewTicket(t.Context(), []byte("a token"), time.Minute)
		if err != nil || len(secret) < 26 {
			t.Fatalf("%q, %v", secret, err)
		}
		return secret
	}
	secret := fresh()
	for _, wrong := range []string{"", secret[1:], strings.ToLower(secret)} {
		if _, err := e.TakeTicket(t.Context(), wrong); !errors.Is(err, sequent.ErrNotFound) {
			t.Errorf("with %q: %v", wrong, err)
		}
	}
	if value, err := e.Owned("ann").TakeTicket(t.Context(), secret); err != nil || string(value) != "a token" {
		t.Errorf("%q, %v", value, err)
	}
	if _, err := e.TakeTicket(t.Context(), secret); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	kept, err := store.TakeTicket(t.Context(), sha256.Sum256([]byte(fresh())))
	if err != nil || strings.Contains(string(kept.Sealed), "token") {
		t.Errorf("the store has %q, %v", kept.Sealed, err)
	}
	secret = fresh()
	now = now.Add(time.Minute)
	if _, err := e.TakeTicket(t.Context(), secret); !errors.Is(err, sequent.ErrNotFound) {
		t.Errorf("expired: %v", err)
	}
}
