package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// An atLeast is a number that is not too small.
type atLeast struct {
	to    *int
	least int
}

// String implements pflag.Value.
func (v atLeast) String() string {
	if v.to == nil {
		return "0"
	}
	return strconv.Itoa(*v.to)
}

// Type implements pflag.Value.
func (v atLeast) Type() string { return "number" }

// Set implements pflag.Value.
func (v atLeast) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if n < v.least {
		return wantError(fmt.Sprintf("a number, at least %d", v.least))
	}
	*v.to = n
	return nil
}
