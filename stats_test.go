package sequent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

func TestStats(t *testing.T) {
	ctx := t.Context()
	now := time.Now()
	e := sequent.New(sequent.Config{TTL: time.Hour, Quota: sequent.Quota{Sessions: 1}, CacheBytes: 1 << 20, Now: func() time.Time { return now }})
	think := func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Text: "a thought", Number: 1, Total: 1})
		return err
	}
	if _, err := e.Begin(ctx, "a", think); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(ctx, "a", think); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Begin(ctx, "b", think); sequent.CodeOf(err) != sequent.CodeQuotaExceeded {
		t.Fatalf("the second session: %v", err)
	}
	if _, err := e.Session(ctx, "none"); !errors.Is(err, sequent.ErrNotFound) {
		t.Fatal(err)
	}
	s := e.Stats()
	if s.CacheSessions != 1 || s.CacheBytes == 0 || s.CacheLimit != 1<<20 || s.CacheHits == 0 || s.CacheMisses == 0 {
		t.Errorf("cache: %+v", s)
	}
	if s.QuotaRefused != 1 || s.Waiting != 0 || s.Committing != 0 || s.Lanes != 1 || s.Followers != 0 {
		t.Errorf("%+v", s)
	}
	following, stop := context.WithCancel(ctx)
	for range e.Follow(following, "a", 0) {
		if n := e.Stats().Followers; n != 1 {
			t.Errorf("%d followers", n)
		}
		break
	}
	stop()
	if n := e.Stats().Followers; n != 0 {
		t.Errorf("%d followers at the end", n)
	}
	now = now.Add(2 * time.Hour)
	if _, err := e.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if n := e.Stats().Swept; n != 1 {
		t.Errorf("%d sessions swept", n)
	}
	if s := new(sequent.Engine).Stats(); s != (sequent.Stats{}) {
		t.Errorf("the zero engine: %+v", s)
	}
}
