package gendocs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

func TestReferenceCoverage(t *testing.T) {
	root := os.DirFS(filepath.Join("..", ".."))
	list, err := os.ReadFile("behaviours.txt")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := gendocs.ReadBehaviours([]byte(strings.ReplaceAll(string(list), "\r\n", "\n")), root)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := gendocs.FindTests(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := gendocs.Coverage(documents, tests)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "coverage.md")
	if *update {
		if err := gendocs.Write(file, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := gendocs.Check(file, text); err != nil {
		t.Error(err)
	}
}

func TestCoverage(t *testing.T) {
	root := fstest.MapFS{
		"docs/decisions/0007-lenient.md": {Data: nil},
		"dialect/x/README.md":            {Data: nil},
		"dialect/x/testdata/a.txtar":     {Data: []byte("A call.\ncovers: 000/a 000/b\n\n-- call --\n{}\n")},
		"x_test.go":                      {Data: []byte("// TestX tests.\n//\n// covers: 000/a\nfunc TestX(t *testing.T) {\n}\n")},
		"node_modules/y.txtar":           {Data: []byte("covers: 000/unknown\n")},
	}
	const list = "## 000 First\na | One | works\nb | Two | differs 0007: because\nc | Three | differs README:x: why | \n"
	good := strings.TrimSuffix(list, " | \n") + "\nd | Four | missing: not yet\ne | Five | works\n"
	documents, err := gendocs.ReadBehaviours([]byte(good), root)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := gendocs.FindTests(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := gendocs.Coverage(documents, tests)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 000 First | 5 | 2 | 2 | 1 | 2 |\n",
		"| One | works | [a](../dialect/x/testdata/a.txtar), [TestX](../x_test.go) |\n",
		"| Two | [differs](decisions/0007-lenient.md): because | [a](../dialect/x/testdata/a.txtar) |\n",
		"| Three | [differs](../dialect/x/README.md): why | untested |\n",
		"| Four | **missing**: not yet |  |\n",
		"## Untested\n\n| Behaviour |",
		"| `000/e` | Five |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, covers := range []string{"000/unknown", "000/d"} {
		if _, err := gendocs.Coverage(documents, []gendocs.Test{{File: "f", Covers: []string{covers}}}); err == nil {
			t.Errorf("a test may cover %s", covers)
		}
	}
	for _, bad := range []string{
		list, "a | One | works\n", "## 000 F\na | One\n", "## 000 F\na | One | perhaps\n", "## 000 F\na | One | differs 9999: x\n",
		"## 000 F\na | One | missing\n", "## 000 F\na | One | works\na | Two | works\n",
	} {
		if _, err := gendocs.ReadBehaviours([]byte(bad), root); err == nil {
			t.Errorf("the list is accepted:\n%s", bad)
		}
	}
	root["y_test.go"] = &fstest.MapFile{Data: []byte("// covers: 000/a\n")}
	if _, err := gendocs.FindTests(root); err == nil {
		t.Error("a comment without a test is accepted")
	}
}
