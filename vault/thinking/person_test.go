package thinking_test

import (
	"strings"
	"testing"
)

// An editor that saves an older version takes thoughts from the note. The next thought brings
// them back, beside what the person has written.
func TestEditorSavesAnOlderVersion(t *testing.T) {
	d := newDesk(t)
	d.think(step(0))
	opened := d.read()
	d.think(step(1))
	d.think(step(2))
	want := d.read()
	d.write(strings.Replace(opened, "## Thought 0/5", "A remark.\n\n## Thought 0/5", 1))
	d.think(step(2))
	_, want, _ = strings.Cut(want, "\n---\n")
	_, got, _ := strings.Cut(d.read(), "\n---\n")
	if !strings.HasPrefix(got, strings.Replace(want, "## Thought 0/5", "A remark.\n\n## Thought 0/5", 1)) || strings.Count(got, "## Thought") != 4 {
		t.Errorf("the note is now\n%s", got)
	}
	d.wantSame()
}
