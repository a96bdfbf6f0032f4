package archive_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// markdown reads Markdown sessions as the program does.
func markdown(ctx context.Context, name string, data []byte) (sequent.Header, []sequent.Entry, error) {
	n := vault.ParseNote("", data)
	return thinking.FromNote(ctx, sequent.ID(cmp.Or(n.Front.Get("permalink"), name)), n)
}

func config(e *sequent.Engine) *archive.Importer {
	return &archive.Importer{Engine: e, Markdown: markdown}
}

// run imports and returns a line for each result.
func run(t testing.TB, c *archive.Importer, path string) (lines []string, sum map[archive.Outcome]int, err error) {
	t.Helper()
	sum = make(map[archive.Outcome]int)
	err = c.Import(t.Context(), path, func(r archive.Result) {
		if sum[r.Outcome]++; r.Outcome == archive.Passed {
			return
		}
		file, _ := filepath.Rel(path, r.File)
		var line strings.Builder
		line.WriteString(fmt.Sprintf("%s: %s %s %s %d", filepath.ToSlash(file), r.Kind, r.Outcome, r.Key.ID, r.Thoughts))
		if r.Err != nil {
			line.WriteString(": " + r.Err.Error())
		}
		lines = append(lines, line.String())
	})
	return lines, sum, err
}

func write(t testing.TB, dir, file string, data []byte) string {
	t.Helper()
	file = filepath.Join(dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// shown returns the header and the thoughts of a session, a line each.
func shown(t testing.TB, e *sequent.Engine, id sequent.ID) (lines []string) {
	t.Helper()
	s, err := e.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	h := s.Header()
	lines = append(lines, fmt.Sprintf("  %s %s %s to %s %q %q %v",
		h.State, h.Dialect, h.Created.Format(time.DateTime), h.Updated.Format(time.DateTime), h.Title, h.Conclusion, h.Labels))
	for th := range s.All() {
		lines = append(lines, fmt.Sprintf("  %d/%d after %d, replaces %d, final %v, at %s: %q %q %q",
			th.Number, th.Total, th.After, th.Supersedes, th.Final, th.At.Format(time.DateTime), th.Branch, th.Text, th.Note))
	}
	return lines
}

// Each file of testdata/import has files to write, and imports in sections named by what is imported: the results, each
// new or longer session with its thoughts, and the number of files that are passed over.
func TestImports(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("CEST", 2*60*60) // some times name no zone
	defer func() { time.Local = local }()
	files, err := filepath.Glob("testdata/import/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e, dir := sequent.New(sequent.Config{Limits: sequent.Limits{Text: 1000}}), t.TempDir()
		added := 0
		for i, f := range ar.Files {
			path, isImport := strings.CutPrefix(f.Name, "import ")
			if !isImport {
				write(t, dir, f.Name, f.Data)
				continue
			}
			results, sum, err := run(t, config(e), filepath.Join(dir, path))
			var got strings.Builder
			if err != nil {
				fmt.Fprintf(&got, "%s: %s\n", sequent.CodeOf(err), strings.ReplaceAll(err.Error(), filepath.Join(dir, path), path))
			}
			for _, line := range results {
				fmt.Fprintln(&got, line)
				if f := strings.Fields(line); f[2] == "added" || f[2] == "extended" {
					fmt.Fprintln(&got, strings.Join(shown(t, e, sequent.ID(f[3])), "\n"))
				}
			}
			added += sum[archive.Added]
			if page, err := e.Sessions(t.Context(), sequent.Query{AllOwners: true}); err != nil || len(page.Headers) != added {
				t.Errorf("%s: there are %d sessions, want %d (%v)", file, len(page.Headers), added, err)
			}
			fmt.Fprintf(&got, "passed: %d\n", sum[archive.Passed])
			if *update {
				ar.Files[i].Data = []byte(got.String())
			} else if want := strings.ReplaceAll(string(f.Data), "\r\n", "\n"); got.String() != want {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", file, f.Name, got.String(), want)
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A session file that was imported is written again as it was.
func TestSessionFileAgain(t *testing.T) {
	e, data := sequent.New(sequent.Config{}), read(t, "testdata/plus.json")
	if _, _, err := run(t, config(e), "testdata/plus.json"); err != nil {
		t.Fatal(err)
	}
	s, err := e.Session(t.Context(), "session-20250428-145302")
	if err != nil || string(archive.SessionFile(s)) != string(data) {
		t.Errorf("got %v\n%s", err, archive.SessionFile(s))
	}
}

// A file that has grown adds thoughts, and takes nothing away that it does not
// know of.
func TestGrownFileKeepsTheHeader(t *testing.T) {
	e := sequent.New(sequent.Config{})
	dir := t.TempDir()
	const one = `{"thought": "a", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": true}`
	file := write(t, dir, "session.json", []byte(`{"id": "s", "timestamp": "2025-04-28T14:53:02Z", "thoughtHistory": [`+one+`]}`))
	if _, _, err := run(t, config(e), file); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), "s", func(c *sequent.Change) error {
		c.SetLabel("vault", "mine")
		c.BeginIn("scope", "standard")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "session.json", []byte(`{"id": "s", "timestamp": "2025-04-29T14:53:02Z", "thoughtHistory": [`+one+`,`+one+`]}`))
	if lines, _, err := run(t, config(e), file); err != nil || len(lines) != 1 || lines[0] != ".: session-file extended s 2" {
		t.Errorf("got %q, %v", lines, err)
	}
	s, err := e.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if h := s.Header(); h.Labels["vault"] != "mine" || h.Scope != "scope" || h.Dialect != "standard" || h.Created.Day() != 28 {
		t.Errorf("the header is %+v", h)
	}
}

func TestImportOfNothing(t *testing.T) {
	_, _, err := run(t, config(sequent.New(sequent.Config{})), filepath.Join(t.TempDir(), "nowhere"))
	if sequent.CodeOf(err) != archive.CodeUnreadable || !strings.Contains(err.Error(), "nowhere cannot be opened") {
		t.Errorf("got %v", err)
	}
}

func TestCanceled(t *testing.T) {
	e := sequent.New(sequent.Config{})
	dir := t.TempDir()
	for i := range 3 {
		write(t, dir, fmt.Sprintf("%d/session.json", i), fmt.Appendf(nil, `{"id": "s%d", "thoughtHistory": []}`, i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	added := 0
	err := config(e).Import(ctx, dir, func(archive.Result) { added++; cancel() })
	if sequent.CodeOf(err) != sequent.CodeCanceled || added != 1 {
		t.Errorf("added %d, %v", added, err)
	}
}

// Whatever a file holds, it is a session that can be stored, twice the same, or an error that
// says something.
func FuzzImport(f *testing.F) {
	for _, file := range []string{"arben.jsonl", "maenifold.md", "plus.json", "export.json"} {
		f.Add(read(f, "testdata/"+file))
	}
	for _, text := range []string{
		`{"version": 1, "thoughts": [{"thought": "a", "thoughtNumber": "1", "stage": "x", "timestamp": "2026-08-18T09:15:02Z"}]}`,
		"{\"type\":\"header\",\"version\":2}\n{\"type\":\"thought\",\"thought\":\"a\",\"revisesThoughtNumber\":-1}\n{",
		`{"thoughtHistory":[{"thought":"a","branchId":"__proto__","branchFromThought":-1}],"branches":{"__proto__":[[[]]]}}`,
		`{"format":"sequent-session","version":1,"log":[{"kind":"thought","thought":{"seq":1,"after":-1,"supersedes":9}}]}`,
		"\uFEFF---\ntype: 'sequential'\nstatus: cancelled\ncancelled: 2025-08-31T03:40:12Z\n---\n## Thought 1/2 [a] (Branch: x)\n\ny\n\n## Session Abandoned\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file := write(t, t.TempDir(), "session.json", data)
		im := config(sequent.New(sequent.Config{}))
		for n := range 2 {
			err := im.Import(t.Context(), file, func(r archive.Result) {
				bad := r.Outcome == archive.Failed && (r.Err.Error() == "" || sequent.CodeOf(r.Err) == sequent.CodeInternal)
				if bad || n > 0 && r.Outcome != archive.Unchanged && r.Outcome != archive.Failed {
					t.Fatalf("import %d: %s, %v", n+1, r.Outcome, r.Err)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
