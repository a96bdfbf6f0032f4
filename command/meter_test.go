package command

import (
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault/index"
)

// A meter shows nothing at first, limits its updates, truncates to one line, and
// clears the line.
func TestMeter(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	m := &meter{out: &out, columns: func() int { return 31 }, now: func() time.Time { return now }}
	want := func(text string) {
		t.Helper()
		if got := out.String(); got != text {
			t.Errorf("after %v: got %q, want %q", now.Sub(time.Unix(0, 0)), got, text)
		}
		out.Reset()
	}
	m.show("first")
	m.clear()
	want("")
	now = now.Add(299 * time.Millisecond)
	m.show("still quick")
	want("")
	now = now.Add(time.Millisecond)
	m.stage(index.Progress{Stage: "reading", Done: 5, Total: 10})
	want("\r\x1b[Kreading 5 of 10")
	now = now.Add(99 * time.Millisecond)
	m.show("too soon")
	want("")
	now = now.Add(time.Millisecond)
	m.show("a file\nwith \x1b[31ma name that does not fit in here")
	want("\r\x1b[Ka file with ␛[31ma name that …")
	m.clear()
	m.clear()
	want("\r\x1b[K")
	var none meter
	none.show("nothing")
	none.clear()
}
