package command

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// A span is a flag value: a Go duration, optionally after a number of days of 24
// hours, such as 90d or 1d12h.
type span time.Duration

// String implements pflag.Value.
func (s *span) String() string { return time.Duration(*s).String() }

// Type implements pflag.Value.
func (s *span) Type() string { return "duration" }

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		days, rest = "0", text
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil {
		return errSpan
	}
	var d time.Duration
	if rest != "" || !ok {
		if d, err = time.ParseDuration(rest); err != nil || ok && d < 0 {
			return errSpan
		}
	}
	const day = 24 * time.Hour
	if n > (math.MaxInt64-int64(max(d, 0)))/int64(day) || n < -math.MaxInt64/int64(day) {
		return errSpan
	}
	if n < 0 {
		d = -d
	}
	*s = span(time.Duration(n)*day + d)
	return nil
}

var errSpan = errors.New("not a duration such as 90d, 12h or 30m")
