package web_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/web"
)

// A file has the chains of all lines, although it stores what they share with the main line once.
func TestFileChains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		e := sequent.New(sequent.Config{})
		for n := range 40 {
			d := sequent.Draft{Number: n + 1, Text: fmt.Sprint(n)}
			if n > 0 && rng.IntN(3) == 0 {
				d.Branch = fmt.Sprint("b", rng.IntN(6))
				d.From = sequent.To(1 + rng.IntN(n))
			} else if n > 0 && rng.IntN(3) == 0 {
				d.Revises, d.Revision = sequent.To(1+rng.IntN(n)), true
			}
			_, _ = e.Append(t.Context(), "s", d) // one that is refused changes nothing
		}
		s, err := e.Session(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		_, data, _ := strings.Cut(string(web.File(s, nil)), `<script type="application/json" id="data">`)
		data, _, _ = strings.Cut(data, "</script>")
		var d web.Document
		if err := json.Unmarshal([]byte(data), &d); err != nil || len(d.Rows) != s.Len() || len(d.Tree) != s.Len() || len(d.Lines) < 2 {
			t.Fatalf("seed %d: %d rows of %d, %d lines, %v", seed, len(d.Rows), s.Len(), len(d.Lines), err)
		}
		for _, l := range d.Lines {
			got, want := slices.Concat(d.Lines[0].Chain[:l.Shared], l.Chain), s.Effective(l.Label)
			if !slices.EqualFunc(got, want, func(a web.Step, b sequent.Step) bool { return a.Seq == b.Seq && slices.Equal(a.Replaced, b.Replaced) }) {
				t.Fatalf("seed %d: the chain of %q is %v, want %v", seed, l.Label, got, want)
			}
		}
	}
}
