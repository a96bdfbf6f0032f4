// Package needtest skips tests that need more than a Go toolchain: a program, a
// server, a browser.
//
// The message of a skipped test says how to install what is missing. With
// SEQUENT_REQUIRE=all in the environment, as in .ci/run, the test fails instead,
// so that no test is skipped unnoticed.
package needtest

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of an installed program. If there is none, it skips or
// fails the test like [Missing].
func Program(t testing.TB, name, get string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" is not installed", get)
	}
	return path
}

// Long skips the test with -short, with which make test runs. The message says how to run it.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIP: long; to run this test, use make check")
	}
}

// Missing skips the test, or fails it if SEQUENT_REQUIRE is all. The message says
// what is missing and get, an instruction for installing it.
func Missing(t testing.TB, what, get string) {
	t.Helper()
	if os.Getenv("SEQUENT_REQUIRE") == "all" {
		t.Fatalf("%s, and SEQUENT_REQUIRE=all: %s", what, get)
	}
	t.Skipf("SKIP: %s; to run this test, %s", what, get)
}
