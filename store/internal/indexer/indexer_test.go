package indexer

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	commits := func(times, n int) func(*Schedule) {
		return func(s *Schedule) {
			for range times {
				s.Committed(n)
				time.Sleep(90 * time.Millisecond)
			}
		}
	}
	for _, tt := range []struct {
		name  string
		write func(*Schedule)
		want  time.Duration
	}{
		{"one commit", commits(1, 1), writePause},
		{"no thoughts", commits(1, 0), writePause},
		{"commits and a pause", commits(20, 1), 8 * writePause}, // the last after 1.71 s
		{"a backlog", commits(100, maxBacklog/20), 8 * writePause},
		{"expedited", (*Schedule).Expedite, 0},
		{"expedited after a commit", func(s *Schedule) {
			s.Committed(1)
			time.Sleep(time.Millisecond)
			s.Expedite()
		}, time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := NewSchedule(), time.Now()
				var writer sync.WaitGroup
				writer.Go(func() { tt.write(s) })
				if err := s.Wait(t.Context(), nil); err != nil || time.Since(start) != tt.want {
					t.Errorf("Wait = %v after %v, want nil after %v", err, time.Since(start), tt.want)
				}
				writer.Wait()
			})
		})
	}
}

func TestWaitAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSchedule()
		s.Committed(1)
		if err := s.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := s.Wait(t.Context(), time.After(time.Hour)); err != nil || time.Since(start) != time.Hour {
			t.Errorf("Wait without a new commit = %v after %v, want nil after the retry interval", err, time.Since(start))
		}
		for _, due := range []bool{false, true} {
			ctx, cancel := context.WithTimeout(t.Context(), writePause/2)
			if due {
				s.Committed(1)
			}
			if err := s.Wait(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("commit %t: Wait = %v, want %v", due, err, context.DeadlineExceeded)
			}
			cancel()
		}
	})
}
