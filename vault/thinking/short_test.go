package thinking_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// The note of a session that would be larger than a note may be, or have more links, has its
// conclusion and its newest thoughts, counts the others, and stays so.
func TestTooLong(t *testing.T) {
	for name, text := range map[string]string{
		"bytes": "About [[size]]. " + strings.Repeat("word ", 12_000),
		"links": strings.Repeat("[[a]] ", 900),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			small := func(what string) {
				t.Helper()
				got := d.read()
				if len(got) > 1<<20 || len(wikilink.Parse([]byte(got))) > vault.MaxLinks {
					t.Fatalf("%s: the note has %d bytes and %d links", what, len(got), len(wikilink.Parse([]byte(got))))
				}
				s := must(d.engine.Session(t.Context(), sessionID))
				if !strings.Contains(got, fmt.Sprintf("^thought-%d\n", s.Len())) {
					t.Fatalf("%s: the note lacks the newest thought", what)
				}
				d.wantSame()
			}
			for n := range 24 {
				d.think(sequent.Draft{Number: n + 1, Total: 24, Text: fmt.Sprint(n, " ", text)})
				small("grown")
				if n == 19 {
					d.edit(" ^thought-20\n", " ^thought-20\n\nA remark.\n")
				}
			}
			d.commit(sessionID, func(c *sequent.Change) error { c.Conclude("It is [[enough]]."); return nil })
			d.think(sequent.Draft{Number: 25, Total: 25, Text: text, Labels: map[string]string{"conclusion": "It is [[enough]]."}, Final: true})
			small("concluded")
			got := d.read()
			for _, want := range []string{"\nomitted: ", "## Conclusion\n\nIt is [[enough]].", "\nA remark.\n"} {
				if !strings.Contains(got, want) {
					t.Errorf("the note lacks %q", want)
				}
			}
			if r := d.sync(true); r.Notes > 0 || len(r.Failed) > 0 {
				t.Errorf("a sync gives %+v", r)
			}
			d.writeFile(fileName, "") // lost
			d.files = openFiles(t, d.dir)
			d.sync(true)
			small("restored")
		})
	}
}
