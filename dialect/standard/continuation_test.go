package standard_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/brief"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/judged"
)

// A list is what a colleague needs of a session, and its traps: brief/testdata/continuation/README.md.
type list struct {
	Session      sequent.ID
	Repository   string
	Needs, Traps []statement
}

// A statement is conveyed by a text that one of its patterns matches.
type statement struct {
	What string
	Any  []pattern
}

type pattern struct{ *regexp.Regexp }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile("(?i)" + string(text))
	return err
}

// in reports whether one of the entries of a text conveys the statement.
func (s statement) in(entries []string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool {
		return slices.ContainsFunc(s.Any, func(p pattern) bool { return p.MatchString(entry) })
	})
}

// entries divides a reply of recall_thinking at the lines that are not indented. Each run of
// white space becomes one space.
func entries(text string) (all []string) {
	for line := range strings.Lines(text) {
		line, indented := strings.CutPrefix(line, " ")
		line = strings.Join(strings.Fields(line), " ")
		if indented && len(all) > 0 {
			all[len(all)-1] += " " + line
		} else {
			all = append(all, line)
		}
	}
	return all
}

// givenUp matches an entry whose head says that the thought or its line was replaced or rejected.
var givenUp = regexp.MustCompile(`^\S+( from \S+)? \([^()]*\b(replaced by|rejected)\b`)

// A tally is how many statements texts convey.
type tally struct {
	needs, questions  int // questions are those of the needs that say what was asked
	traps, live, size int // live traps have no mark that they were given up
}

func (y *tally) add(x tally) {
	y.needs += x.needs
	y.questions += x.questions
	y.traps += x.traps
	y.live += x.live
	y.size += x.size
}

// tallyOf counts what a text conveys of a list.
func tallyOf(l list, text string) (x tally) {
	all := entries(text)
	for _, s := range l.Needs {
		if s.in(all) {
			x.needs++
			if strings.HasPrefix(s.What, "The question is ") {
				x.questions++
			}
		}
	}
	unmarked := slices.DeleteFunc(slices.Clone(all), givenUp.MatchString)
	for _, s := range l.Traps {
		if s.in(all) {
			x.traps++
		}
		if s.in(unmarked) {
			x.live++
		}
	}
	x.size = dialect.Tokens(text)
	return x
}

// TestContinuation measures what three texts of 1,000 tokens tell a colleague who goes on with a
// session: one recall, the end of the log, and the last thought.
func TestContinuation(t *testing.T) {
	const budget, sessions = 1000, 20
	files, err := filepath.Glob("../../brief/testdata/continuation/*.json")
	if err != nil || len(files) != sessions {
		t.Fatalf("%d lists (%v), want %d", len(files), err, sessions)
	}
	names := []string{"whole log", "one recall", "end of the log", "last thought"}
	sums := make([]tally, len(names))
	var rows strings.Builder
	for _, file := range files {
		l, s, d := continued(t, file)
		log := recall(t, d, map[string]any{"sessionId": l.Session, "view": "log", "maxTokens": 1 << 20})
		for _, st := range slices.Concat(l.Needs, l.Traps) {
			for _, p := range st.Any {
				if !(statement{Any: []pattern{p}}).in(entries(log)) {
					t.Errorf("%s: the log does not have %q", l.Session, p)
				}
			}
		}
		thought, _ := s.Last()
		fmt.Fprintf(&rows, "| `%s` | %s", l.Session, l.Repository)
		for i, text := range []string{
			log,
			recall(t, d, map[string]any{"sessionId": l.Session, "maxTokens": budget}),
			log[max(0, len(log)-4*budget):],
			brief.Name(thought) + " " + thought.Text,
		} {
			x := tallyOf(l, text)
			sums[i].add(x)
			fmt.Fprintf(&rows, " | %d, %d", x.needs, x.traps)
		}
		rows.WriteString(" |\n")
	}
	var page strings.Builder
	page.WriteString(continuationHead)
	for i, x := range sums {
		row := fmt.Sprintf("| %s | %d | %s | %s | %d | %d |\n", names[i], x.size/sessions, share(x.needs, sums[0].needs),
			share(x.needs-x.questions, sums[0].needs-sums[0].questions), x.traps, x.live)
		t.Log(strings.TrimSpace(row))
		page.WriteString(row)
	}
	page.WriteString(continuationSessions + rows.String() + "\n")
	if recalled, end := sums[1], sums[2]; recalled.needs < end.needs || recalled.live > end.live {
		t.Errorf("one recall has %d needs and %d live traps, the end of the log has %d and %d",
			recalled.needs, recalled.live, end.needs, end.live)
	}
	update := flag.Lookup("update").Value.String() == "true" // of dialecttest
	equal, err := judged.Section("../../docs/evaluation.md", "continuation", page.String(), update)
	if err != nil {
		t.Fatal(err)
	}
	if !equal {
		t.Error("docs/evaluation.md is stale: run go test ./dialect/standard -run TestContinuation -update")
	}
}

// continued returns a list and its session, restored in an engine of its own.
func continued(t *testing.T, file string) (l list, s *sequent.Session, d dialect.Dialect) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &l); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	e, s, err := judged.Session(t.Context(), filepath.Join("../../internal/findings/testdata/recorded", filepath.Base(file)))
	if err != nil {
		t.Fatal(err)
	}
	return l, s, build(t, dialect.Env{Engine: e})
}

func share(n, of int) string { return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(of)) }

const continuationHead = `
| Text | Tokens on average | Needs | Needs without the question | Traps shown | Of these live |
|---|---|---|---|---|---|
`

const continuationSessions = `
By session, the needs and the traps that each text has:

| Session | Repository | Whole log | One recall | End of the log | Last thought |
|---|---|---|---|---|---|
`
