package command

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// A span is the value of every flag for a duration: days of 24 hours, hours, minutes
// and seconds, such as 7d, 12h, 90m, 1h30m or 1d12h. Zero may be written without a unit.
// It is never negative.
type span time.Duration

const day = 24 * time.Hour

// String implements pflag.Value. Set reads what it returns.
func (s *span) String() string {
	d := time.Duration(*s)
	if d == 0 {
		return "0"
	}
	text := ""
	if days := d / day; days > 0 {
		text = strconv.FormatInt(int64(days), 10) + "d"
	}
	if d %= day; d == 0 {
		return text
	}
	rest := d.String()
	if strings.HasSuffix(rest, "m0s") {
		rest = strings.TrimSuffix(rest, "0s")
	}
	if strings.HasSuffix(rest, "h0m") {
		rest = strings.TrimSuffix(rest, "0m")
	}
	return text + rest
}

// Type implements pflag.Value.
func (s *span) Type() string { return "duration" }

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || strings.HasPrefix(rest, "+") {
		return errSpan
	}
	var d time.Duration
	if rest != "" || !ok {
		if d, err = time.ParseDuration(rest); err != nil || d < 0 || strings.HasPrefix(rest, "-") {
			return errSpan
		}
	}
	if n > uint64((math.MaxInt64-d)/day) {
		return errSpan
	}
	*s = span(time.Duration(n)*day + d)
	return nil
}

// errSpan is the one wording for a duration that cannot be read.
var errSpan = errors.New("not a duration such as 7d, 12h, 90m or 1h30m")
