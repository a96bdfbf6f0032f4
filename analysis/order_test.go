package analysis_test

import (
	"reflect"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/analysis"
)

// Sessions that one sentence judges come in the same order each time.
func TestOrderOfOneSentence(t *testing.T) {
	e := sequent.New(sequent.Config{})
	for _, id := range []sequent.ID{"aaaa1111bbbb", "cccc2222dddd", "eeee3333ffff", "gggg4444hhhh"} {
		write(t, e, judgedSession{ID: id, Thoughts: []string{"The cache is too small."}, Concluded: true})
	}
	write(t, e, judgedSession{ID: "last", Thoughts: []string{
		"We reject the decision in aaaa1111bbbb, we reject the decision in cccc2222dddd, we reject the decision in eeee3333ffff, and we reject the decision in gggg4444hhhh.",
	}})
	first, err := analysis.Run(t.Context(), e, analysis.Query{})
	if err != nil || len(first.Sections) == 0 || len(first.Sections[0].Findings) != 4 {
		t.Fatalf("%+v, %v", first, err)
	}
	for range 20 {
		again, err := analysis.Run(t.Context(), e, analysis.Query{})
		if err != nil || !reflect.DeepEqual(first.Sections, again.Sections) {
			t.Fatalf("%v: first\n%+v\nand then\n%+v", err, first.Sections, again.Sections)
		}
	}
}
