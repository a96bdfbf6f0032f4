// Package coverage tests docs/coverage.md, which says for each thing in the seed documents what
// shows it, and runs the transcripts of that page over each transport.
package coverage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

var (
	row  = regexp.MustCompile(`(?m)^\| \d+ \| .+ \| (?:as written|\[differs\]\(\S+\): .+) \| (.+) \|$`)
	link = regexp.MustCompile(`\[([^]]+)\]\((\S+)\)`)
)

// Each row of the page names a transcript, or a test that the gate runs. That linked files exist
// is a rule for all pages.
func TestRows(t *testing.T) {
	text := read(t, "../../docs/coverage.md")
	rows := row.FindAllStringSubmatch(text, -1)
	if lines := strings.Count(text, "\n| ") - 2*strings.Count(text, "\n## "); len(rows) != lines || lines < 300 {
		t.Errorf("%d of %d lines are rows: | LINE | what | as written, or [differs](PAGE): why | [TEST](FILE) |", len(rows), lines)
	}
	for _, m := range rows {
		shown := link.FindAllStringSubmatch(m[1], -1)
		if len(shown) == 0 {
			t.Errorf("nothing shows %s", m[0])
		}
		for _, l := range shown {
			name, file := l[1], filepath.Join("../../docs", l[2])
			if filepath.Ext(file) == ".txtar" {
				continue
			}
			_, body, found := strings.Cut(read(t, file), " "+name+"(")
			body, _, _ = strings.Cut(body, "\n}")
			if !found || strings.Contains(body, `os.Getenv("SEQUENT_`) {
				t.Errorf("%s: the gate runs no test %s in %s", m[0], name, file)
			}
		}
	}
}

// Every transcript of the page runs over every transport that can carry it.
func TestTransports(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range regexp.MustCompile(`\(\.\./(dialect/(\w+)/testdata/([^/)]+)\.txtar)\)`).FindAllStringSubmatch(read(t, "../../docs/coverage.md"), -1) {
		file, s := "../../"+m[1], subjects[m[2]]
		if seen[file] {
			continue
		}
		seen[file] = true
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range transports {
			if tr.carries(s, archive) {
				t.Run(m[2]+" "+m[3]+" over "+tr.name, func(t *testing.T) {
					build := func(t testing.TB, env dialect.Env) dialect.Dialect {
						if s.draws && tr.name != stdio {
							env.Stderr = io.Discard
						}
						d := s.build(t, env)
						return remote(t, d, tr.serve(t, d))
					}
					dialecttest.Play(t, dialecttest.Config{Build: build}, file, tr.scope)
				})
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("the page names %d transcripts", len(seen))
	}
}

// carries reports whether the steps of a transcript can be made over the transport. A client
// without a scope needs calls that name their sessions, unless the transcript is about such a
// client. A scope that ends with a process or a connection does not survive a restart, and only a
// client on standard input has its thoughts drawn.
func (tr transport) carries(s subject, archive *txtar.Archive) bool {
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

// damaged is the mark of the seed documents that a wrong decoding has damaged and transcripts have
// whole.
var damaged = strings.NewReplacer("âœ…", "✅")

// Every call that a seed document has as JSON is in a transcript, if the documents are here.
func TestSeeds(t *testing.T) {
	dir := os.Getenv("SEQUENT_SEEDS")
	if dir == "" {
		t.Skip("SEQUENT_SEEDS does not name the folder of the seed documents")
	}
	calls := make(map[string]bool)
	for name := range subjects {
		files, err := filepath.Glob("../../dialect/" + name + "/testdata/*.txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			for _, f := range txtar.Parse([]byte(read(t, file))).Files {
				calls[plain(f.Data)] = true
			}
		}
	}
	documents, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := 0
	for _, file := range documents {
		for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(damaged.Replace(read(t, file)), -1) {
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
				t.Errorf("no transcript has the call of %s\n%s", file, m[1])
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
