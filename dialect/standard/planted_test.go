package standard_test

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/internal/findings"
	"github.com/sequent-dev/sequent/internal/judged"
	"github.com/sequent-dev/sequent/tool"
)

// plantings are sessions that were written to have a finding, or to look as if they had one; their README says how
// they were judged.
const plantings = "../../internal/findings/testdata/planted"

// A planted is one of them: calls of sequentialthinking, and notes of a person.
type planted struct {
	Name  string
	Calls []map[string]any
	Says  []findings.Kind // of the last call
}

// play records a planted session and returns it.
func (p *planted) play(t *testing.T) *sequent.Session {
	t.Helper()
	e := sequent.New(sequent.Config{})
	d := standard.New(standard.Config{Engine: e, Render: standard.Render{}})
	var id sequent.ID
	for _, args := range p.Calls {
		if kind, ok := args["note"].(string); ok {
			_, err := e.Update(t.Context(), id, func(c *sequent.Change) error {
				return c.AddNote(sequent.Note{Seq: int(args["at"].(float64)), Kind: sequent.NoteKind(kind), Text: args["text"].(string), From: "ann"})
			})
			if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
			continue
		}
		if id != "" {
			args["sessionId"] = id
		}
		reply := sent(t.Context(), t, d, args)
		if id == "" {
			var first struct{ SessionID sequent.ID }
			if err := json.Unmarshal(reply.JSON, &first); err != nil {
				t.Fatal(err)
			}
			id = first.SessionID
		}
	}
	s, err := e.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sent(ctx context.Context, t *testing.T, d dialect.Dialect, args map[string]any) tool.Reply {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := d.Tools[0].Call(ctx, tool.Call{Args: data})
	if err != nil || reply.Failed {
		t.Fatalf("%s: %v %s", data, err, reply.Text)
	}
	return reply
}

// TestPlanted compares the findings of planted sessions with what two hands say of them. A kind has a precision of 0.95 at
// least, or it does not ship.
func TestPlanted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(plantings, "*.jsonl"))
	if err != nil || len(files) != 10 {
		t.Fatal(files, err)
	}
	second := judgements(t)
	right, wrong, missed := make(map[findings.Kind]int), make(map[findings.Kind]int), make(map[findings.Kind]int)
	cases, dropped := make(map[findings.Kind][2]int), 0
	for _, file := range files {
		kind := findings.Kind(strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		for _, p := range read(t, file) {
			says, ok := second[string(kind)+"/"+p.Name]
			slices.Sort(p.Says)
			if !ok || !slices.Equal(says, p.Says) {
				dropped++
				continue
			}
			n := cases[kind]
			if slices.Contains(p.Says, kind) {
				n[0]++
			} else {
				n[1]++
			}
			cases[kind] = n
			var got []findings.Kind
			for _, f := range findings.Last(p.play(t)) {
				got = append(got, f.Kind)
			}
			for _, k := range got {
				if slices.Contains(p.Says, k) {
					right[k]++
				} else {
					wrong[k]++
					t.Logf("false: %s in %s/%s", k, kind, p.Name)
				}
			}
			for _, k := range p.Says {
				if !slices.Contains(got, k) {
					missed[k]++
					t.Logf("missed: %s in %s/%s", k, kind, p.Name)
				}
			}
		}
	}
	var page strings.Builder
	page.WriteString("\n| Kind | Right | Look-alikes | Precision | Recall |\n|---|---|---|---|---|\n")
	for _, file := range files {
		kind := findings.Kind(strings.TrimSuffix(filepath.Base(file), ".jsonl"))
		n := cases[kind]
		if n[0] < 20 || n[1] < 20 {
			t.Errorf("%s: %d planted and %d look-alikes on which both hands agree, want 20 of each", kind, n[0], n[1])
		}
		precision, recall := portion(right[kind], wrong[kind]), portion(right[kind], missed[kind])
		if precision < 0.95 {
			t.Errorf("%s: precision %.2f", kind, precision)
		}
		fmt.Fprintf(&page, "| `%s` | %d | %d | %.2f | %.2f |\n", kind, n[0], n[1], precision, recall)
	}
	fmt.Fprintf(&page, "\nThe two hands disagree on %d other cases, which are left out.\n\n", dropped)
	t.Log(page.String())
	equal, err := judged.Section("../../docs/evaluation.md", "planted", page.String(), flag.Lookup("update").Value.String() == "true")
	if err != nil || !equal {
		t.Errorf("docs/evaluation.md is stale: run go test ./dialect/standard -run TestPlanted -update (%v)", err)
	}
}

func portion(part, rest int) float64 { return float64(part) / float64(max(1, part+rest)) }

func read(t *testing.T, file string) (all []planted) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var p planted
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, p)
	}
	return all
}

// judgements returns what the second hand says of each session.
func judgements(t *testing.T) map[string][]findings.Kind {
	t.Helper()
	f, err := os.Open(filepath.Join(plantings, "judged.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := make(map[string][]findings.Kind)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, kinds, _ := strings.Cut(lines.Text(), ":")
		all[name] = []findings.Kind{}
		for kind := range strings.FieldsSeq(kinds) {
			all[name] = append(all[name], findings.Kind(kind))
		}
		slices.Sort(all[name])
	}
	return all
}
