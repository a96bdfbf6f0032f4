package mcpserver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent"
)

func TestReadiness(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks, fault := 0, error(nil)
		hang := false
		r := readiness{check: func(ctx context.Context) error {
			looks++
			if hang {
				<-ctx.Done()
				return ctx.Err()
			}
			return fault
		}}
		want := func(why string, n int, told bool) {
			t.Helper()
			got, err := r.ask(t.Context())
			if got != why || looks != n || (err != nil) != told {
				t.Errorf("ask = %q, %v after %d looks; want %q, %v after %d", got, err, looks, why, told, n)
			}
		}
		want("", 1, false)
		want("", 1, false)
		time.Sleep(readyFor)
		fault = &sequent.Error{Code: sequent.CodeOtherFormat}
		want("store_other_format", 2, true)
		want("store_other_format", 2, false)
		time.Sleep(readyFor)
		want("store_other_format", 3, false) // nobody is told twice
		time.Sleep(readyFor)
		hang = true
		begun := time.Now()
		want("store_timeout", 4, true)
		if time.Since(begun) != checkTimeout {
			t.Errorf("it takes %v", time.Since(begun))
		}
		time.Sleep(readyFor)
		hang, fault = false, nil
		want("", 5, false)
		r.check = nil
		want("", 5, false)
	})
}
