package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var promiseTests = regexp.MustCompile(`<!-- test: ([^>]+) -->$`)

// Each line of the lists of promises names tests that exist, as DIRECTORY.Name.
func TestPromisesHaveTests(t *testing.T) {
	for _, page := range []string{"security.md", "operating.md", "proof.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		_, section, found := strings.Cut(string(text), "\n## Promises\n")
		section, _, _ = strings.Cut(section, "\n## ")
		promises := strings.Split(section, "\n- ")[1:]
		if !found || len(promises) < 3 {
			t.Errorf("%s has %d promises", page, len(promises))
		}
		for _, promise := range promises {
			promise, _, _ = strings.Cut(promise, "\n\n") // a paragraph after the list
			m := promiseTests.FindStringSubmatch(strings.TrimSpace(promise))
			if m == nil {
				t.Errorf("%s: no test at the end of %.80q", page, promise)
				continue
			}
			for name := range strings.FieldsSeq(m[1]) {
				if dir, function, _ := strings.Cut(name, "."); !hasTest(t, dir, function) {
					t.Errorf("%s: the test %s does not exist: %.60q", page, name, promise)
				}
			}
		}
	}
}

// hasTest reports whether a directory has a test function. The root is called sequent.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	if dir == "sequent" {
		dir = "."
	}
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
