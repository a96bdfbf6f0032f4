package command

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "0d": 0, "0s": 0, "7d": 7 * day, "12h": 12 * time.Hour, "90m": 90 * time.Minute, "1h30m": 90 * time.Minute,
		"1d12h": 36 * time.Hour, "720h": 30 * day, "1.5h": 90 * time.Minute, "90s": 90 * time.Second, "1ns": 1,
		"2d1h1m1s": 49*time.Hour + 61*time.Second, "106751d": 106751 * day, "1d0h": day,
	} {
		var s span
		if err := s.Set(text); err != nil || time.Duration(s) != want {
			t.Errorf("Set(%q) = %v, %v; want %v", text, time.Duration(s), err, want)
		}
		var again span
		if err := again.Set(s.String()); err != nil || again != s {
			t.Errorf("%v is written %q, which is read as %v, %v", want, s.String(), time.Duration(again), err)
		}
	}
	for _, text := range []string{
		"", "d", "90", "1.5d", "90D", "90 d", "1d-2h", "1d+2h", "-1d", "-2h", "+2h", "+1d", "-0h", "1d2", "2w", "106752d",
		"99999999999999999999d", "1h1d", "d1", "1dd", "-106752d", "9223372036854775807ns1d",
	} {
		s := span(7)
		if err := s.Set(text); err == nil || s != 7 {
			t.Errorf("Set(%q) = %v, %v; want an error and no change", text, time.Duration(s), err)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0", 30 * day: "30d", 36 * time.Hour: "1d12h", time.Hour: "1h", 90 * time.Minute: "1h30m", time.Minute: "1m", 90 * time.Second: "1m30s",
		day + time.Second: "1d1s", time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m", 10 * time.Hour: "10h", 1500 * time.Millisecond: "1.5s",
	} {
		if s := span(d); s.String() != want {
			t.Errorf("%v is written %q, want %q", d, s.String(), want)
		}
	}
}

// Every flag for a duration is a span, whatever command it belongs to.
func TestEveryDurationIsASpan(t *testing.T) {
	t.Parallel()
	p := &program{in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: func(string) string { return "" }, now: time.Now}
	spans := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			v := f.Value
			if named, ok := v.(namedValue); ok {
				v = named.Value
			}
			_, isSpan := v.(*span)
			if isSpan {
				spans++
			}
			if v.Type() == "duration" && !isSpan || isSpan && f.Value.Type() != "DURATION" {
				t.Errorf("%s --%s is a %T named %s", c.CommandPath(), f.Name, v, f.Value.Type())
			}
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(p.root())
	if spans == 0 {
		t.Error("no flag is a span")
	}
}
