package dialecttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// wikiOver is the dialect wiki over an engine and a vault in a folder.
func wikiOver(t *testing.T, e *sequent.Engine, dir string) (speaker, dialect.Dialect) {
	t.Helper()
	v := vaults.New(vaults.Config{Dir: dir, Engine: e})
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return speaker{name: "wiki"}, wiki.New(wiki.Config{Vaults: v})
}

// A session of wiki, which counts from 0 and wants links, is read and continued in
// the dialects that can name it, and after that in wiki again: its note has all.
func TestWikiCrossesDialects(t *testing.T) {
	for _, second := range speakers() {
		if !second.names {
			continue
		}
		t.Run(second.name, func(t *testing.T) {
			e, dir := sequent.New(sequent.Config{}), t.TempDir()
			first, a := wikiOver(t, e, dir)
			b, reader := second.build(e), speakers()[0].build(e)
			const think = "sequential_thinking"
			say(t, first, a, think, `{"response": "begun [[a]]", "nextThoughtNeeded": true, "totalThoughts": 9}`)
			page, err := e.Sessions(t.Context(), sequent.Query{})
			if err != nil || len(page.Headers) != 1 || page.Headers[0].Dialect != "wiki" {
				t.Fatalf("the sessions are %+v, %v", page.Headers, err)
			}
			id := page.Headers[0].ID
			recalled := say(t, speakers()[0], reader, "recall_thinking", fmt.Sprintf(`{"sessionId":%q}`, id))
			if !strings.Contains(recalled, "begun [[a]]") {
				t.Errorf("recall shows %s", recalled)
			}
			say(t, second, b, b.Tools[0].Name, second.args(step{text: "continued", number: 1, session: id}))
			say(t, first, a, think, fmt.Sprintf(`{"sessionId":%q, "response": "concluded [[a]]", "thoughtNumber": 2, "totalThoughts": 9, "conclusion": "Found [[a]]."}`, id))

			s, err := e.Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(dialecttest.Log(s), "\n")
			for n, want := range []string{`1: 0/9 "begun [[a]]"`, `2: 1/9 "continued"`, `3: 2/9 last "concluded [[a]]"`} {
				if line := strings.Split(got, "\n")[n]; !strings.HasPrefix(line, want) {
					t.Errorf("the log has %s, want %s", line, want)
				}
			}
			note, err := os.ReadFile(filepath.Join(dir, "thinking", "sequential", string(id)+".md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range []string{"begun [[a]]", "\ncontinued\n", "concluded [[a]]", "Found [[a]].", "status: completed"} {
				if !strings.Contains(string(note), text) {
					t.Errorf("the note lacks %q:\n%s", text, note)
				}
			}
		})
	}
}

// The ids that classic makes fit wiki, so its sessions can be continued there.
func TestClassicGoesOnInWiki(t *testing.T) {
	e, dir := sequent.New(sequent.Config{}), t.TempDir()
	for _, sp := range speakers() {
		if sp.name == "classic" {
			say(t, sp, sp.build(e), "sequentialthinking", sp.args(step{text: "begun", number: 1}))
		}
	}
	page, err := e.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 {
		t.Fatalf("the sessions are %+v, %v", page.Headers, err)
	}
	id := page.Headers[0].ID
	sp, d := wikiOver(t, e, dir)
	reply := say(t, sp, d, "sequential_thinking", fmt.Sprintf(`{"sessionId":%q, "response": "gone on [[a]]", "thoughtNumber": 2, "nextThoughtNeeded": true}`, id))
	if want := "Added thought 2 to session: " + string(id); !strings.Contains(reply, want) {
		t.Errorf("got %s, want %s", reply, want)
	}
	note, err := os.ReadFile(filepath.Join(dir, "thinking", "sequential", string(id)+".md"))
	if err != nil || !strings.Contains(string(note), "\nbegun\n") || !strings.Contains(string(note), "gone on [[a]]") {
		t.Errorf("the note is %s, %v", note, err)
	}
}
