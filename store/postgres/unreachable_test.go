package postgres

import (
	"errors"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// Nothing listens at port 1. The driver tries with and without TLS.
func TestUnreachableNamesItsCauseOnce(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), Config{URL: "postgres://u@127.0.0.1:1/x?sslmode=prefer&connect_timeout=5"})
	e, ok := errors.AsType[*sequent.Error](err)
	if !ok || e.Code != sequent.CodeUnavailable || e.Err == nil {
		t.Fatalf("got %v", err)
	}
	if n := strings.Count(e.Err.Error(), "dial error"); n != 1 {
		t.Errorf("the cause occurs %d times: %v", n, e.Err)
	}
}
