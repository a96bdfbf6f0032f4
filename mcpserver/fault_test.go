package mcpserver

import (
	"errors"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
)

// A client is told that a call may have recorded something, also when the cause is
// left to the log.
func TestUncertainFault(t *testing.T) {
	s := New(Config{Dialect: dialect.Dialect{Name: "test"}})
	for _, test := range []struct {
		uncertain bool
		want      string // in the message
	}{
		{true, "may or may not have recorded"},
		{false, "internal error (id "},
	} {
		fault := s.guard(t.Context(), &request{message: message{Method: methodCall}}, func() error {
			return &sequent.Error{Code: sequent.CodeInternal, Uncertain: test.uncertain, Err: errors.New("secret")}
		})
		if !strings.Contains(fault.Message, test.want) || strings.Contains(fault.Message, "secret") ||
			strings.Contains(fault.Message, "may or may not") != test.uncertain {
			t.Errorf("the fault of an error with Uncertain %t is %q, want it to contain %q", test.uncertain, fault.Message, test.want)
		}
	}
}
