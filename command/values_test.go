package command

import (
	"testing"
	"time"
)

// What a value is written as is read as the same value.
func TestValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "0d": "0", "0s": "0", "7d": "7d", "12h": "12h", "90m": "1h30m", "1h30m": "1h30m", "1d12h": "1d12h", "720h": "30d",
		"1.5h": "1h30m", "90s": "1m30s", "1ns": "1ns", "2d1h1m1s": "2d1h1m1s", "106751d": "106751d", "1d0h": "1d", "10m": "10m",
		"1d1s": "1d1s", "1h1s": "1h0m1s", "30s": "30s", "1500ms": "1.5s",
	} {
		d, ok := parseSpan(text)
		if again, _ := parseSpan(formatSpan(d)); !ok || formatSpan(d) != want || again != d {
			t.Errorf("%q is %v, written as %q; want %q", text, d, formatSpan(d), want)
		}
	}
	for _, text := range []string{
		"", "d", "90", "1.5d", "90D", "90 d", "1d-2h", "1d+2h", "-1d", "-2h", "+2h", "+1d", "-0h", "1d2", "2w", "106752d",
		"99999999999999999999d", "1h1d", "d1", "1dd", "-106752d", "9223372036854775807ns1d",
	} {
		if d, ok := parseSpan(text); ok {
			t.Errorf("%q is read as %v", text, d)
		}
		to := 7 * time.Hour
		if err := span(&to).Set(text); err == nil || to != 7*time.Hour {
			t.Errorf("a flag with %q is %v, %v; want an error and no change", text, to, err)
		}
	}
}

// Every flag for a duration is a span, whatever command it belongs to.
func TestEveryDurationIsASpan(t *testing.T) {
	t.Parallel()
	for _, r := range discarding().flagTable() {
		if _, isSpan := r.to.(parsed[time.Duration]); isSpan != (r.value == "DURATION") {
			t.Errorf("--%s is a %T with the value %s", r.name, r.to, r.value)
		}
	}
}
