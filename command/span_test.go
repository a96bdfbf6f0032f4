package command

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0": 0, "90d": 90 * day, "0d": 0, "1d12h": 36 * time.Hour, "-1d": -day, "-1d12h": -36 * time.Hour, "106751d": 106751 * day,
		"720h": 30 * day, "30m": 30 * time.Minute, "1h30m": 90 * time.Minute, "-2h": -2 * time.Hour, "1.5h": 90 * time.Minute,
	} {
		var s span
		if err := s.Set(text); err != nil || time.Duration(s) != want {
			t.Errorf("Set(%q) = %v, %v; want %v", text, time.Duration(s), err, want)
		}
	}
	for _, text := range []string{"", "d", "90", "1.5d", "90D", "90 d", "1d-2h", "1d2", "2w", "106752d", "-106752d", "99999999999999999999d", "1h1d", "d1", "1dd"} {
		s := span(7)
		if err := s.Set(text); err == nil || s != 7 {
			t.Errorf("Set(%q) = %v, %v; want an error and no change", text, time.Duration(s), err)
		}
	}
}
