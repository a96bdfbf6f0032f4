package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A size is a flag for a number of bytes, such as 64MiB.
type size int64

// String implements pflag.Value.
func (s *size) String() string {
	for _, u := range sizeUnits {
		if n := int64(*s); n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(int64(*s), 10)
}

// sizeUnits are the units of sizes, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// Type implements pflag.Value.
func (s *size) Type() string { return "size" }

// Set implements pflag.Value. It reads 64MiB, 64M and 67108864 alike.
func (s *size) Set(text string) error {
	digits, unit := text, int64(1)
	for _, u := range sizeUnits {
		for _, name := range []string{u.name, u.name[:1]} {
			if len(text) > len(name) && strings.EqualFold(text[len(text)-len(name):], name) && unit == 1 {
				digits, unit = text[:len(text)-len(name)], u.bytes
			}
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return errSize
	}
	*s = size(n * unit)
	return nil
}

var errSize = errors.New("not a size such as 64MiB")
