package command

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// A namedValue is the value of a flag with the name that help shows.
type namedValue struct {
	pflag.Value
	name   string
	values []string // the only ones; none allows any
}

// Type implements pflag.Value.
func (v namedValue) Type() string { return v.name }

// Set implements pflag.Value.
func (v namedValue) Set(text string) error {
	if len(v.values) > 0 && !slices.Contains(v.values, text) {
		n := len(v.values) - 1
		return wantError(strings.Join(v.values[:n], ", ") + " or " + v.values[n])
	}
	return v.Value.Set(text)
}

// A wantError says which values a flag can have.
type wantError string

func (e wantError) Error() string { return "want " + string(e) }

// wanted says which values a flag can have that refused one with an error.
func wanted(f *pflag.Flag, err error) string {
	if want, ok := errors.AsType[wantError](err); ok {
		return string(want)
	}
	if f.Value.Type() == "bool" {
		return "true or false"
	}
	return "a number"
}

// invalid returns a usage error for the value of a flag or variable. Want describes the valid values.
func invalid(name string, value any, want string) error {
	return &usageError{msg: fmt.Sprintf("invalid value %q for %s", fmt.Sprint(value), name), fix: "use " + want}
}

// A parsed is the value of a flag with a form of its own.
type parsed[T any] struct {
	to    *T
	want  string // all values that it can have
	parse func(text string) (v T, ok bool)
	text  func(T) string
}

// String implements pflag.Value. Set reads what it returns.
func (v parsed[T]) String() string {
	if v.to == nil {
		return ""
	}
	return v.text(*v.to)
}

// Type implements pflag.Value.
func (v parsed[T]) Type() string { return fmt.Sprintf("%T", *v.to) }

// Set implements pflag.Value.
func (v parsed[T]) Set(text string) error {
	got, ok := v.parse(text)
	if !ok {
		return wantError(v.want)
	}
	*v.to = got
	return nil
}

// atLeast is a flag for a number that is not too small.
func atLeast[N int | int64](to *N, least N) parsed[N] {
	return parsed[N]{to, fmt.Sprintf("a number, at least %d", least), func(text string) (N, bool) {
		n, err := strconv.ParseInt(text, 10, strconv.IntSize)
		return N(n), err == nil && N(n) >= least
	}, func(n N) string { return strconv.FormatInt(int64(n), 10) }}
}

// rate is a flag for a number of requests per second.
func rate(to *float64) parsed[float64] {
	return parsed[float64]{to, "a number of requests per second, or 0 for no limit", func(text string) (float64, bool) {
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && n >= 0 && n <= 1e9 // also excludes NaN
	}, func(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }}
}

const day = 24 * time.Hour

// span is every flag for a duration: days of 24 hours, hours, minutes and seconds, such as 7d, 12h, 90m,
// 1h30m or 1d12h. Zero may be written without a unit. It is never negative.
func span(to *time.Duration) parsed[time.Duration] {
	return parsed[time.Duration]{to, "a duration such as 7d, 12h, 90m or 1h30m", parseSpan, formatSpan}
}

func parseSpan(text string) (time.Duration, bool) {
	days, rest, ok := strings.Cut(text, "d")
	if !ok {
		days, rest = "0", text
	}
	n, err := strconv.ParseUint(days, 10, 32)
	if err != nil || strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "-") {
		return 0, false
	}
	var d time.Duration
	if rest != "" || !ok {
		if d, err = time.ParseDuration(rest); err != nil {
			return 0, false
		}
	}
	return time.Duration(n)*day + d, n <= uint64((math.MaxInt64-d)/day)
}

func formatSpan(d time.Duration) string {
	text := ""
	switch days := d / day; {
	case d == 0:
		return "0"
	case days > 0:
		text = strconv.FormatInt(int64(days), 10) + "d"
	}
	if d %= day; d == 0 {
		return text
	}
	rest := d.String()
	for _, zero := range [][2]string{{"m0s", "m"}, {"h0m", "h"}} {
		if begin, ok := strings.CutSuffix(rest, zero[0]); ok {
			rest = begin + zero[1]
		}
	}
	return text + rest
}
