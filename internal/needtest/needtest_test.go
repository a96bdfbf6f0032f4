package needtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/internal/needtest"
)

// recorder is a testing.TB that records its Fatalf and Skipf.
type recorder struct {
	testing.TB
	failed, skipped string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestProgram(t *testing.T) {
	run := func(name string) (path string, r recorder) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			path = needtest.Program(&r, name, "install it from nowhere")
		}()
		<-done
		return path, r
	}

	t.Setenv("SEQUENT_REQUIRE", "")
	if path, r := run("go"); path == "" || r.failed+r.skipped != "" {
		t.Errorf("go: path %q, failed %q, skipped %q; want a path", path, r.failed, r.skipped)
	}
	if _, r := run("no-such-program"); r.failed != "" || !strings.Contains(r.skipped, "install it from nowhere") {
		t.Errorf("missing: failed %q, skipped %q; want a skip that says how to install it", r.failed, r.skipped)
	}
	t.Setenv("SEQUENT_REQUIRE", "all")
	if _, r := run("no-such-program"); !strings.Contains(r.failed, "install it from nowhere") {
		t.Errorf("missing and required: failed %q, skipped %q; want a failure that says how to install it", r.failed, r.skipped)
	}
}
