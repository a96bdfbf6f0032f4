package vault

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// Errors of the system have a code and say what to do, and no path of the machine.
func TestWrap(t *testing.T) {
	for _, test := range []struct {
		cause error
		uri   URI
		want  sequent.Code
	}{
		{errDiskFull, "memory://a.md", CodeFull}, {errQuotaFull, "memory://a.md", CodeFull}, {errReadOnly, "memory://a.md", CodeReadOnly},
		{fs.ErrPermission, scheme, CodeReadOnly}, {fs.ErrNotExist, scheme, CodeUnavailable}, {fs.ErrNotExist, "memory://a.md", CodeNotFound},
		{fs.ErrExist, "memory://a.md", CodeExists}, {errors.New("a fault"), scheme, CodeUnavailable},
	} {
		err := wrap(&fs.PathError{Op: "open", Path: "/home/ana/x", Err: test.cause}, test.uri)
		e, ok := errors.AsType[*sequent.Error](err)
		if !ok || e.Code != test.want || !errors.Is(err, test.cause) || e.Fix == "" || strings.Contains(e.Msg+e.Fix, "/home") {
			t.Errorf("%v at %s becomes %#v, want %s", test.cause, test.uri, err, test.want)
		}
	}
	if err := wrap(context.DeadlineExceeded, scheme); sequent.CodeOf(err) != sequent.CodeCanceled || wrap(nil, scheme) != nil {
		t.Errorf("a deadline becomes %v", err)
	}
}
