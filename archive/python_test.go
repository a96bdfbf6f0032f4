package archive_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/internal/redact"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// TestPython compares the verdicts of testdata/verify.py, an independent implementation
// of docs/reference/format.md, with those of Verify, for intact, masked and damaged exports.
func TestPython(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var docs [][]byte
	var names []string
	find, err := redact.Expressions([]string{`plain|null|[{\x00]|中文`})
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string, doc []byte) { docs, names = append(docs, doc), append(names, name) }
	for n := range 20 {
		id := sequent.ID(fmt.Sprint("s", n))
		anySession(t, e, rng, id)
		h, entries := entriesOf(t, e, id)
		add("any", archive.Log(h, entries))
		h, entries, _, err := redact.Session(t.Context(), h, entries, find)
		if err == nil { // no label has such a name
			add("redacted", archive.Log(h, entries))
		}
	}
	if _, err := e.Begin(t.Context(), "damaged", func(c *sequent.Change) error {
		c.BeginIn("scope", "standard")
		for n := range 6 {
			if _, err := c.Append(sequent.Draft{Number: n + 1, Total: 6, Text: fmt.Sprint("thought ", n+1), Final: n == 5}); err != nil {
				return err
			}
		}
		c.Conclude("It holds.")
		c.SetLabel("topic", "")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), "damaged", func(c *sequent.Change) error { c.SetTitle("A title"); return nil }); err != nil {
		t.Fatal(err)
	}
	h, entries := entriesOf(t, e, "damaged")
	whole := archive.Log(h, entries)
	for _, name := range slices.Sorted(maps.Keys(damages())) {
		var x archive.Export
		if err := json.Unmarshal(whole, &x); err != nil {
			t.Fatal(err)
		}
		damages()[name](&x)
		doc, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		add(name, doc)
	}

	dir := t.TempDir()
	var files []string
	for i, doc := range docs {
		files = append(files, filepath.Join(dir, fmt.Sprint(i, ".json")))
		if err := os.WriteFile(files[i], doc, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	verdicts := verdicts(t, files...)
	if len(verdicts) != len(docs) {
		t.Fatalf("%d verdicts for %d files:\n%q", len(verdicts), len(docs), verdicts)
	}
	for i, doc := range docs {
		h, entries, err := archive.ReadJSON(bytes.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		v := sequent.Verify(h, entries)
		want := "intact " + v.Head.String()
		if v.Fault != nil {
			want = v.Fault.String()
		}
		if intact := strings.HasPrefix(want, "intact"); intact != slices.Contains([]string{"any", "redacted", "nothing"}, names[i]) {
			t.Errorf("%s: Verify says %q", names[i], want)
		}
		if verdicts[i] != want {
			t.Errorf("%s: Python says %q, want %q, for\n%s", names[i], verdicts[i], want, doc)
		}
	}
}

// verdicts returns the lines that testdata/verify.py prints for files.
func verdicts(t *testing.T, files ...string) []string {
	t.Helper()
	python := needtest.Program(t, "python3", "install Python 3")
	args := append([]string{"-X", "utf8", filepath.Join("..", "testdata", "verify.py")}, files...)
	out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(out), "\r\n", "\n")), "\n")
}

// TestPythonReadsStores compares what verify.py says of the sessions in a store with what Verify
// says, also after plain SQL has changed some of them.
func TestPythonReadsStores(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.db")
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: file, Sync: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	e := sequent.New(sequent.Config{Store: s})
	ids := make([]sequent.ID, 20)
	for n := range ids {
		ids[n] = sequent.ID(fmt.Sprint("s", n))
		anySession(t, e.Owned("ann"), rng, ids[n])
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, change := range []string{
		"", "UPDATE tool_sessions SET created = created - 1 WHERE id = 's1'", "UPDATE tool_sessions SET header = '{}' WHERE id = 's2'",
		"UPDATE tool_log SET text = text || '.' WHERE seq = 1", "DELETE FROM tool_log WHERE n = 2",
	} {
		if _, err := db.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		var want []string
		faults := 0
		for _, id := range ids {
			h, log, err := e.Owned("ann").Entries(t.Context(), id, sequent.Position{})
			if err != nil {
				t.Fatal(err)
			}
			v := sequent.Verify(h, log)
			line := "ann/" + string(id) + ": intact " + v.Head.String()
			if v.Fault != nil {
				faults++
				line = "ann/" + string(id) + ": " + v.Fault.String()
			}
			want = append(want, line)
		}
		if got := verdicts(t, file); !slices.Equal(got, want) || (faults > 0) != (change != "") {
			t.Errorf("after %q, %d faults: Python says\n%s\nwant\n%s", change, faults, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func entriesOf(t *testing.T, e *sequent.Engine, id sequent.ID) (sequent.Header, []sequent.Entry) {
	t.Helper()
	h, entries, err := e.Entries(t.Context(), id, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return h, entries
}

// damages are changes of an export with six thoughts and two other entries.
func damages() map[string]func(*archive.Export) {
	cut := func(from, to int) func(*archive.Export) {
		return func(x *archive.Export) { x.Log = slices.Delete(x.Log, from, to) }
	}
	swap := func(a, b int) func(*archive.Export) {
		return func(x *archive.Export) { x.Log[a], x.Log[b] = x.Log[b], x.Log[a] }
	}
	strip := func(x *archive.Export, i int) {
		x.Log[i].Place, x.Log[i].Salt, x.Log[i].Hash = 0, sequent.Salt{}, sequent.Hash{}
	}
	return map[string]func(*archive.Export){
		"nothing":           func(*archive.Export) {},
		"a text":            func(x *archive.Export) { x.Log[2].Thought.Text += "." },
		"a number":          func(x *archive.Export) { x.Log[2].Thought.Number++ },
		"a flag":            func(x *archive.Export) { x.Log[2].Thought.Final = true },
		"a reference":       func(x *archive.Export) { x.Log[2].Thought.Revises = sequent.To(0) },
		"a label":           func(x *archive.Export) { x.Log[2].Thought.Labels = map[string]string{"a": ""} },
		"a thought's time":  func(x *archive.Export) { x.Log[2].Thought.At = x.Log[2].At.Add(time.Microsecond) },
		"an entry's time":   func(x *archive.Export) { x.Log[2].At = x.Log[2].At.Add(time.Microsecond) },
		"a salt":            func(x *archive.Export) { x.Log[2].Salt[0]++ },
		"a hash":            func(x *archive.Export) { x.Log[2].Hash[0]++ },
		"a masked digest":   func(x *archive.Export) { x.Log[2].Masked = map[string]sequent.Hash{"text": {}} },
		"a seq":             func(x *archive.Export) { x.Log[2].Thought.Seq = 7 },
		"no first thought":  cut(0, 1),
		"no thought":        cut(2, 3),
		"no two thoughts":   cut(2, 4),
		"no last thought":   cut(5, 6),
		"no thoughts":       cut(0, 6),
		"two thoughts swap": swap(1, 3),
		"a thought twice":   func(x *archive.Export) { x.Log = append(x.Log, x.Log[5]) },
		"an added thought": func(x *archive.Export) {
			x.Log = append(x.Log, sequent.EntryOf(sequent.Thought{Seq: 7, Draft: sequent.Draft{Text: "more"}, At: x.Session.Updated}))
		},
		"a stripped thought": func(x *archive.Export) { strip(x, 2) },
		"a stripped start":   func(x *archive.Export) { strip(x, 0) },
		"no entry":           cut(6, 7),
		"no last entry":      cut(7, 8),
		"no entries":         cut(6, 8),
		"two entries swap":   swap(6, 7),
		"a field":            func(x *archive.Export) { x.Log[6].Body["conclusion"] = "It fails." },
		"a kind":             func(x *archive.Export) { x.Log[7].Kind = "other" },
		"a cut log":          cut(3, 8),
		"no chain": func(x *archive.Export) {
			x.Session.Entries, x.Session.Head, x.Session.Seal = 0, sequent.Hash{}, sequent.Hash{}
		},
		"another head":        func(x *archive.Export) { x.Session.Head[0]++ },
		"a longer chain":      func(x *archive.Export) { x.Session.Entries++ },
		"another length":      func(x *archive.Export) { x.Session.Len++ },
		"another conclusion":  func(x *archive.Export) { x.Session.Conclusion = "It fails." },
		"another state":       func(x *archive.Export) { x.Session.State = "active" },
		"another title":       func(x *archive.Export) { x.Session.Title = "" },
		"another id":          func(x *archive.Export) { x.Session.ID = "other" },
		"an owner":            func(x *archive.Export) { x.Session.Owner = "alice" },
		"another origin":      func(x *archive.Export) { x.Session.Origin.Project = "other" },
		"another begin":       func(x *archive.Export) { x.Session.Created = x.Session.Created.Add(-time.Microsecond) },
		"another change":      func(x *archive.Export) { x.Session.Updated = x.Session.Updated.Add(time.Second) },
		"an expiry":           func(x *archive.Export) { x.Session.Expires = x.Session.Updated.Add(time.Hour) },
		"another seal":        func(x *archive.Export) { x.Session.Seal[0]++ },
		"another label":       func(x *archive.Export) { x.Session.Labels = map[string]string{"topic": "x"} },
		"a conclusion before": func(x *archive.Export) { x.Log[6].At = x.Log[6].At.Add(-time.Second) },
	}
}
