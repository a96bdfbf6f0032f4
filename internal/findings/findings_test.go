package findings_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/internal/judged"
)

var update = flag.Bool("update", false, "write the figures of docs/evaluation.md anew")

// Sessions that agents recorded at work have few findings. Each was judged by hand: its line in recorded.txt begins with
// a + if the fact holds and its author had a reason to look, and with a - if it was a false alarm.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.json")
	if err != nil || len(files) < 40 {
		t.Fatal(len(files), err)
	}
	var lines []string
	thoughts := 0
	for _, file := range files {
		_, s, err := judged.Session(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		thoughts += s.Len()
		for _, f := range findings.Of(s) {
			lines = append(lines, fmt.Sprintf("%s@%d %s: %s", s.ID(), f.At, f.Kind, f.Text))
		}
	}
	const golden = "testdata/recorded.txt"
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	alarms := 0
	for line := range strings.Lines(string(data)) {
		verdict, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		known = append(known, what)
		if verdict != "+" {
			alarms++
		}
	}
	if !slices.Equal(lines, known) {
		t.Errorf("findings that are not judged, or are gone:\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(known, "\n"))
	}
	if alarms*100 > thoughts {
		t.Errorf("%d false alarms in %d thoughts", alarms, thoughts)
	}
	page := fmt.Sprintf("\n%d sessions, %d thoughts: %d findings, of which %d are false alarms.\n\n", len(files), thoughts, len(lines), alarms)
	equal, err := judged.Section("../../docs/evaluation.md", "recorded", page, *update)
	if err != nil || !equal {
		t.Errorf("docs/evaluation.md is stale: run go test ./internal/findings -update (%v)", err)
	}
}

// BenchmarkHostile looks at logs that were made to take long: 10,000 thoughts take less than half a second.
func BenchmarkHostile(b *testing.B) {
	const n = 10_000
	big := strings.Repeat("as #1, #2 and thought 3 say ", 600)
	for name, draft := range map[string]func(i int) sequent.Draft{
		"citations": func(i int) sequent.Draft { return sequent.Draft{Number: i, Text: big[:min(len(big), 40+i%1200)]} },
		"revisions of one": func(i int) sequent.Draft {
			return sequent.Draft{Number: i, Text: "Again #1.", Revises: sequent.To(1), Revision: true}
		},
		"a chain": func(i int) sequent.Draft {
			return sequent.Draft{Number: i, Text: "Same.", Revises: sequent.To(max(1, i-1)), Revision: true}
		},
		"one number":  func(int) sequent.Draft { return sequent.Draft{Number: 1, Text: "#1"} },
		"conclusions": func(i int) sequent.Draft { return sequent.Draft{Number: i, Text: "Done, see thought 1.", Final: true} },
		"branches": func(i int) sequent.Draft {
			return sequent.Draft{Number: i, Text: "A way, #1.", Branch: fmt.Sprint("b", i%900), From: sequent.To(max(1, i-1)), Final: i%2 == 0}
		},
	} {
		b.Run(name, func(b *testing.B) {
			e := sequent.New(sequent.Config{})
			var drafts []sequent.Draft
			for i := range n {
				drafts = append(drafts, draft(i+1))
			}
			s, err := e.Append(b.Context(), "s", drafts...)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				findings.Of(s)
			}
		})
	}
}
