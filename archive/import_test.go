package archive_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

func compare(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
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
		e, dir := sequent.New(sequent.Config{}), t.TempDir()
		for i, f := range ar.Files {
			path, isImport := strings.CutPrefix(f.Name, "import ")
			if !isImport {
				write(t, dir, f.Name, f.Data)
				continue
			}
			results, sum, err := run(t, config(e), filepath.Join(dir, path))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, line := range results {
				fmt.Fprintln(&got, line)
				if f := strings.Fields(line); f[2] == "added" || f[2] == "extended" {
					fmt.Fprintln(&got, strings.Join(shown(t, e, sequent.ID(f[3])), "\n"))
				}
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

const unknown = "not a recognised session file: supported formats: a session that sequent export wrote as JSON; " +
	"a session.json of sequentialthinking-plus or of sequent serve --dialect classic; " +
	"a Markdown session of Maenifold, with type: sequential in its front matter; " +
	"a current_session.jsonl of arben-adm's mcp-sequential-thinking, or an export of it"

func TestDamaged(t *testing.T) {
	e := sequent.New(sequent.Config{})
	dir := t.TempDir()
	arben, plus := read(t, "testdata/arben.jsonl"), read(t, "testdata/plus.json")
	lines := strings.SplitAfter(string(arben), "\n")
	for name, data := range map[string]string{
		"a/session.json":          string(plus[:len(plus)/2]),
		"b/session.json":          "",
		"c/session.json":          "\x00\x01",
		"d/session.json":          `{"id": 7, "thoughtHistory": []}`,
		"e/current_session.jsonl": lines[0] + lines[1] + lines[2][:40] + "\n" + lines[3],
		"f/current_session.jsonl": strings.Replace(lines[0], "2", "3", 1) + lines[1],
		"g/current_session.jsonl": lines[0],
		"h/x.json":                `{"format": "sequent-session", "version": 9, "thoughts": []}`,
		"i/x.json":                `{"some": "thing"}`,
		"j/x.json":                `{"broken`,
		"k/session.json":          `{"id": "k", "thoughtHistory": [{"thought": "` + strings.Repeat("x", 70000) + `"}]}`,
		"l/session.json":          `{"id": "l\u0000", "thoughtHistory": []}`,
		"m/x.json":                `{"format": "sequent-session", "version": 1, "id": "m", "state": "active", "expires": "2020-01-01T00:00:00Z", "thoughts": []}`,
		"z/session.json":          string(plus),
	} {
		write(t, dir, name, []byte(data))
	}
	got, sum, err := run(t, config(e), dir)
	compare(t, "first", got, []string{
		"a/session.json: session-file failed  0: truncated: unexpected EOF",
		"b/session.json:  failed  0: " + unknown,
		"c/session.json:  failed  0: " + unknown,
		"d/session.json: session-file failed  0: id has the wrong type number at byte 8",
		"e/current_session.jsonl: arben-adm failed  0: after 1 thoughts: invalid character '\\n' in string literal",
		"f/current_session.jsonl: arben-adm failed  0: unsupported version 3; the newest supported version is 2",
		"g/current_session.jsonl: arben-adm failed  0: no thoughts",
		"h/x.json: sequent failed  0: unsupported version 9 of the format, newer than 1; update sequent",
		"k/session.json: session-file failed  0: text has 70000 bytes, the limit is 65536: split it into several thoughts",
		"l/session.json: session-file failed  0: sessionId holds the non-printing character U+0000: use printable characters only",
		"m/x.json: sequent failed m 0: the session has expired at 2020-01-01 00:00:00 UTC: remove its time of expiry to keep it",
		"z/session.json: session-file added session-20250428-145302 4",
	})
	if err != nil || !maps.Equal(sum, map[archive.Outcome]int{archive.Added: 1, archive.Failed: 11, archive.Passed: 2}) {
		t.Errorf("got %+v, %v", sum, err)
	}
	page, err := e.Sessions(t.Context(), sequent.Query{AllOwners: true})
	if err != nil || len(page.Headers) != 1 {
		t.Errorf("there are %d sessions, %v", len(page.Headers), err)
	}
	// A file named in the call is reported, whatever it is.
	got, sum, err = run(t, config(e), filepath.Join(dir, "i/x.json"))
	compare(t, "named", got, []string{".:  failed  0: " + unknown})
	if err != nil || sum[archive.Failed] != 1 {
		t.Errorf("got %+v, %v", sum, err)
	}
	// Where there is nothing, that is an error; so is a path that is not there.
	if _, _, err := run(t, config(e), t.TempDir()); sequent.CodeOf(err) != archive.CodeUnreadable || !strings.Contains(err.Error(), "contains no sessions: supported formats:") {
		t.Errorf("got %v", err)
	}
	if _, _, err := run(t, config(e), filepath.Join(dir, "nowhere")); sequent.CodeOf(err) != archive.CodeUnreadable || !strings.Contains(err.Error(), "nowhere cannot be opened") {
		t.Errorf("got %v", err)
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
	lines, _, err := run(t, config(e), file)
	compare(t, "grown", lines, []string{".: session-file extended s 2"})
	s, err2 := e.Session(t.Context(), "s")
	if err2 != nil {
		t.Fatal(err2)
	}
	if h := s.Header(); err != nil || h.Labels["vault"] != "mine" || h.Scope != "scope" || h.Dialect != "standard" || h.Created.Day() != 28 {
		t.Errorf("the header is %+v, %v", h, err)
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
		`{"format":"sequent-session","version":1,"thoughts":[{"seq":1,"after":-1,"supersedes":9}]}`,
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
