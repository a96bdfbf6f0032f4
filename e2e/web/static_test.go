package web

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/web"
)

// The types of the modules, which are in their comments, agree.
func TestTypes(t *testing.T) {
	t.Parallel()
	node := needtest.Program(t, "node", "install Node.js 20 or newer")
	compiler := filepath.Join("node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(compiler); err != nil {
		needtest.Missing(t, "TypeScript is not installed", "run make npm")
	}
	if out, err := exec.Command(node, compiler, "-p", ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// maxWeight is the limit of what a browser downloads, in bytes with gzip.
const maxWeight = 60 << 10

func TestWeight(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../web/ui/*")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	weight := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		weight += weigh(text)
	}
	chat := web.InChat(dialect.Dialect{}, sequent.New(sequent.Config{}))
	text, err := chat.Resources[0].Read(t.Context(), tool.Caller{})
	if err != nil {
		t.Fatal(err)
	}
	page := weigh([]byte(text))
	t.Logf("the page of a chat has %d bytes with gzip", page)
	if page > maxWeight {
		t.Errorf("the page of a chat has %d bytes with gzip, the limit is %d", page, maxWeight)
	}
	t.Logf("%d files, %d bytes with gzip", len(names), weight)
	if weight > maxWeight {
		t.Errorf("the pages have %d bytes with gzip, the limit is %d", weight, maxWeight)
	}
}
