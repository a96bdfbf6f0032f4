// Package needtest is for tests that need something which a machine with only
// Go does not have: a program, a server, a browser.
//
// Such a test is skipped where the thing is missing, and says how to get it. With
// SEQUENT_REQUIRE=all in the environment, as in the gate, it fails instead, so
// that no test is left out without anybody noticing.
package needtest

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of a program. If it is not installed the test is
// skipped, or fails where nothing may be missing; get says how to install it.
func Program(t testing.TB, name, get string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Missing(t, name+" is not installed", get)
	}
	return path
}

// Missing ends the test because of something that is not there; get says how to
// get it.
func Missing(t testing.TB, what, get string) {
	t.Helper()
	if os.Getenv("SEQUENT_REQUIRE") == "all" {
		t.Fatalf("%s, and SEQUENT_REQUIRE=all: %s", what, get)
	}
	t.Skipf("SKIP: %s; to run this test, %s", what, get)
}
