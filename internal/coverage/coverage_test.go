package coverage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/internal/gendocs"
)

var root = filepath.Join("..", "..")

// Every transcript that shows a row runs over every transport that can carry it. The page is
// what that found.
func TestReferenceCoverage(t *testing.T) {
	list, err := os.ReadFile("rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := readRows(string(list), os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := findTests(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	ran := make(map[string][]string)
	for _, shows := range tests {
		folder, transcript := strings.CutPrefix(path.Dir(shows.file), "dialect/")
		s, ok := subjects[strings.TrimSuffix(folder, "/testdata")]
		if !transcript || !ok || shows.name != "" {
			continue // a function, or a script of the command line
		}
		for _, tr := range transports {
			if !tr.carries(t, s, shows.file) {
				continue
			}
			if t.Run(strings.TrimSuffix(path.Base(shows.file), ".txtar")+" over "+tr.name, func(t *testing.T) { play(t, s, tr, shows.file) }) {
				ran[shows.file] = append(ran[shows.file], tr.name)
			}
		}
	}
	text, err := page(documents, tests, ran)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "docs", "coverage.md")
	// Package dialecttest has the flag, which rewrites transcripts where they are run directly.
	if update := flag.Lookup("update").Value.String() == "true"; update && !t.Failed() {
		if err := gendocs.Write(file, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := gendocs.Check(file, text); err != nil {
		t.Error(err)
	}
}

// play runs a transcript over a transport.
func play(t *testing.T, s subject, tr transport, file string) {
	build := func(t testing.TB, env dialect.Env) dialect.Dialect {
		if s.draws && tr.name != stdio {
			env.Stderr = io.Discard
		}
		d := s.build(t, env)
		return remote(t, d, tr.serve(t, d))
	}
	dialecttest.Play(t, dialecttest.Config{Build: build}, filepath.Join(root, filepath.FromSlash(file)), tr.scope)
}

// carries reports whether the steps of a transcript can be made over the transport. A client
// without a scope needs calls that name their sessions, unless the transcript is about such a
// client. A scope that ends with a process or a connection does not survive a restart, and only a
// client on standard input has its thoughts drawn.
func (tr transport) carries(t *testing.T, s subject, file string) bool {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	restarts, drawn, lacks, named := false, false, false, true
	for _, f := range archive.Files {
		switch call := strings.HasPrefix(f.Name, "call"); {
		case f.Name == "restart":
			restarts = true
		case f.Name == "stderr" && s.draws:
			drawn = true
		case call && strings.HasSuffix(f.Name, " scope=-"):
			lacks = true
		case call && !s.named && !bytes.Contains(f.Data, []byte(`"session_id"`)):
			named = false
		}
	}
	switch tr.name {
	case unscoped:
		return named && !drawn
	case scoped:
		return !lacks && !drawn
	case sessions:
		return !lacks && !drawn && (s.named || !restarts)
	default:
		return !lacks && (s.named || !restarts)
	}
}

// The list, the names in tests and the page are checked.
func TestChecks(t *testing.T) {
	root := fstest.MapFS{
		"docs/decisions/0007-lenient.md": {Data: nil},
		"dialect/x/README.md":            {Data: nil},
		"dialect/x/testdata/a.txtar":     {Data: []byte("A call.\ncovers: 000/a 000/b\n\n-- call --\n{}\n")},
		"x_test.go":                      {Data: []byte("// TestX tests.\n//\n// covers: 000/a 000/c\nfunc TestX(t *testing.T) {\n}\n")},
		"node_modules/y.txtar":           {Data: []byte("covers: 000/unknown\n")},
	}
	const good = "## 000 First\n9 a | One | as written\n3 b | Two | differs 0007: because\n4 c | Three | differs README:x: why\n"
	documents, err := readRows(good, root)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := findTests(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := page(documents, tests, map[string][]string{"dialect/x/testdata/a.txtar": {stdio, scoped}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| 000 First | 3 | 1 | 2 | 2 | 1 |\n| All | 3 | 1 | 2 | 2 | 1 |\n",
		"| 3 | Two | [differs](decisions/0007-lenient.md): because | standard input, scope | [a](../dialect/x/testdata/a.txtar) |\n" +
			"| 4 | Three | [differs](../dialect/x/README.md): why |  | [TestX](../x_test.go) |\n" +
			"| 9 | One | as written | standard input, scope | [a](../dialect/x/testdata/a.txtar), [TestX](../x_test.go) |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	for _, covers := range [][]string{{"000/a", "000/b"}, {"000/a", "000/b", "000/c", "000/d"}} {
		if _, err := page(documents, []test{{file: "f", covers: covers}}, nil); err == nil {
			t.Errorf("a test may cover %s", covers)
		}
	}
	for _, bad := range []string{
		"1 a | One | as written\n", "## 000 F\n1 a | One\n", "## 000 F\na | One | as written\n", "## 000 F\n1 a | One | perhaps\n",
		"## 000 F\n1 a | One | differs 9999: x\n", "## 000 F\n1 a | One | differs 0007\n", "## 000 F\n1 a | One | as written\n2 a | Two | as written\n",
	} {
		if _, err := readRows(bad, root); err == nil {
			t.Errorf("the list is accepted:\n%s", bad)
		}
	}
	for _, bad := range []string{
		"// covers: 000/a\n",
		"// covers: 000/a\nfunc testY(t *testing.T) {\n}\n",
		"// covers: 000/a\nfunc TestY(t *testing.T) {\n\tif os.Getenv(\"SEQUENT_X\") == \"\" {\n\t\tt.Skip()\n\t}\n}\n",
	} {
		root["y_test.go"] = &fstest.MapFile{Data: []byte(bad)}
		if _, err := findTests(root); err == nil {
			t.Errorf("a test is accepted that nobody runs:\n%s", bad)
		}
	}
}

// damaged is the mark of the seed documents that a wrong decoding has damaged and transcripts have
// whole.
var damaged = strings.NewReplacer("âœ…", "✅")

// Every row names a line of its document, and every call that a document has as JSON is in a
// transcript, if the documents are here.
func TestSeeds(t *testing.T) {
	dir := os.Getenv("SEQUENT_SEEDS")
	if dir == "" {
		t.Skip("SEQUENT_SEEDS does not name the folder of the seed documents")
	}
	calls := make(map[string]bool)
	for name := range subjects {
		files, err := filepath.Glob(filepath.Join(root, "dialect", name, "testdata", "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range archive.Files {
				calls[plain(f.Data)] = true
			}
		}
	}
	list, err := os.ReadFile("rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := readRows(string(list), os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, d := range documents {
		files, err := filepath.Glob(filepath.Join(dir, d.number+"-*.md"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has the documents %q of %s (%v)", dir, files, d.number, err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for _, r := range d.rows {
			if r.line > len(lines) || strings.TrimSpace(lines[r.line-1]) == "" {
				t.Errorf("%s: line %d of the document is empty", r.id, r.line)
			}
		}
		for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(damaged.Replace(string(data)), -1) {
			var call struct {
				Response *string
				Cancel   bool
				Params   struct{ Arguments json.RawMessage }
			}
			if json.Unmarshal([]byte(m[1]), &call) != nil || call.Params.Arguments == nil && call.Response == nil && !call.Cancel {
				continue // a reply, a schema, or a form with a comment
			}
			examples++
			if args := plain(cmp.Or(string(call.Params.Arguments), m[1])); !calls[args] {
				t.Errorf("no transcript of %s has the call\n%s", d.number, m[1])
			}
		}
	}
	if examples != 13 {
		t.Errorf("the documents have %d calls, want 13", examples)
	}
}

// plain returns JSON in one form, and "" for a text that is not JSON.
func plain[T string | ~[]byte](text T) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
