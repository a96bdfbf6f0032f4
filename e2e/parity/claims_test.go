package parity

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/internal/gendocs"
)

var update = flag.Bool("update", false, "rewrite what README.md and docs/choosing.md say of the comparison")

// The reasons for which a call of the reference server is refused.
var reasons = []string{
	"a reference to a thought that does not exist",
	"a number in a spelling that only JavaScript reads: `\"+3\"`, `\"0x3\"`",
	"`true` or an array in place of a number",
	"an empty thought",
	"a branch name with a control character",
	"a text or a name over its limit",
	"an argument that the reference server ignores and `standard` knows, with a wrong value",
}

// reasonOf returns the index of the reason for a refusal, or -1.
func reasonOf(args string, refusal answer) int {
	var given map[string]json.RawMessage
	var said struct{ Code, Field, Error string }
	_ = json.Unmarshal([]byte(args), &given)
	if json.Unmarshal([]byte(refusal.Text), &said) != nil { // standard says CODE: FIELD is …
		said.Code, said.Error, _ = strings.Cut(refusal.Text, ": ")
		said.Field, _, _ = strings.Cut(said.Error, " ")
	}
	value := string(given[said.Field])
	switch said.Code {
	case "THOUGHT_NOT_FOUND":
		return 0
	case "INVALID_ARGUMENT":
		switch {
		case said.Field == "thought":
			return 3
		case !slices.Contains([]string{"thoughtNumber", "totalThoughts", "revisesThought", "branchFromThought"}, said.Field):
			return 6
		case value != "" && value[0] == '"':
			return 1
		default:
			return 2
		}
	case "INVALID_THOUGHT":
		return 4
	case "LIMIT_EXCEEDED":
		return 5
	case "SESSION_NOT_FOUND", "REQUEST_KEY_REUSED":
		return 6
	}
	return -1
}

// A tally is what a dialect does with calls that the reference server accepts.
type tally struct {
	accepted int
	refused  [7]int // by reason
}

// What the pages say of the comparison with the reference server is what a run of random calls
// gives: those of the other tests, and those that only the reference server accepts.
func TestClaims(t *testing.T) {
	t.Parallel()
	theirs := reference(t)
	g := generator{rand.New(rand.NewPCG(1, 2))} // the pages have the counts
	var odd []fault
	for _, f := range faults() {
		if f.theirs == accepts && f.ours == refuses {
			odd = append(odd, f)
		}
	}
	inStandard := func(t testing.TB, calls []string) []answer {
		t.Helper()
		return serve(t, standard.New(standard.Config{Engine: sequent.New(sequent.Config{})}), calls)
	}
	var ofClassic, ofStandard tally
	n := 0
	for range 200 {
		calls := g.sequence()
		if g.IntN(4) == 0 {
			calls = append(calls, apply(odd[g.IntN(len(odd))]))
		}
		want, inClassic, inStandard := theirs(t, calls), inProcess(t, calls), inStandard(t, calls)
		for i, args := range calls {
			if want[i].Failed {
				t.Fatalf("the reference server refuses %s: %s", args, want[i].Text)
			}
			n++
			if got := inClassic[i]; !got.Failed && got.Fields.String() != want[i].Fields.String() {
				t.Fatalf("call %s\nours:   %s\ntheirs: %s", args, got.Fields, want[i].Fields)
			}
			for got, of := range map[*answer]*tally{&inClassic[i]: &ofClassic, &inStandard[i]: &ofStandard} {
				if !got.Failed {
					of.accepted++
				} else if why := reasonOf(args, *got); why >= 0 {
					of.refused[why]++
				} else {
					t.Errorf("%.200s is refused for a reason that the pages do not have: %s", args, got.Text)
				}
			}
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "| %d random calls that version %s of the reference server accepts | `classic` | `standard` |\n|---|---|---|\n", n, version(t))
	fmt.Fprintf(&table, "| accepted | %d, with the same five fields in the reply | %d |\n", ofClassic.accepted, ofStandard.accepted)
	for i, why := range reasons {
		fmt.Fprintf(&table, "| refused: %s | %d | %d |\n", why, ofClassic.refused[i], ofStandard.refused[i])
	}
	root := filepath.Join("..", "..")
	for file, text := range map[string]string{
		filepath.Join(root, "docs", "choosing.md"): table.String(),
		filepath.Join(root, "README.md"): fmt.Sprintf("Of %d random calls that the reference server accepts, `classic` accepts %d, with the same five fields in the reply.\n"+
			"[The refused calls](docs/choosing.md#compared-with-the-reference-server) are counted by reason.\n", n, ofClassic.accepted),
	} {
		var err error
		if *update {
			err = gendocs.WriteSection(file, "compatibility", text)
		} else {
			err = gendocs.CheckSection(file, "compatibility", text)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// version returns the version of the reference server.
func version(t *testing.T) string {
	t.Helper()
	_, file := entry(t)
	manifest, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "package.json"))
	var pkg struct{ Version string }
	if err != nil || json.Unmarshal(manifest, &pkg) != nil {
		t.Fatalf("%v: %s", err, manifest)
	}
	return pkg.Version
}
