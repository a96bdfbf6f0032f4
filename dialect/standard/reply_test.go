package standard

import (
	"bytes"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// What is written by hand is what encoding/json writes.
func FuzzReply(f *testing.F) {
	f.Add("3dern5sbrf5v", 1, 10, true, 1, false, "")
	f.Add("a\"<b>\u2028", -1, 1<<60, false, 0, true, "")
	f.Add("", 0, 0, false, 0, false, "branch-1")
	f.Fuzz(func(t *testing.T, id string, number, total int, next bool, length int, warned bool, branch string) {
		r := &thinkReply{
			Session: sequent.ID(id), Number: number, Total: total, Next: next,
			Branches: []string{}, Length: length, Branch: branch,
		}
		if warned {
			r.Warnings = []string{id}
		}
		if branch != "" {
			r.Branches = []string{branch}
		}
		got, want := r.reply(), tool.JSONReply(r)
		if got.Text != want.Text || !bytes.Equal(got.JSON, want.JSON) || got.Failed {
			t.Errorf("the reply is %+v, want %+v", got, want)
		}
	})
}

func TestNearlySame(t *testing.T) {
	t.Parallel()
	const ten = "one two three four five six seven eight nine ten"
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"", "", false}, {" \n\u00a0", " \n\u00a0", false}, {"a", "a", true}, {"a", "", false},
		{"A  b\tÄ", "a b ä", true}, {ten, "One two three four five six seven eight nine eleven", true},
		{ten, "one two three four five six seven eight mine eleven", false},
		{ten, "ten nine eight seven six five four three two one", true}, {"one one one", "one two two", false},
	} {
		if got := nearlySame(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q are nearly the same: %t, want %t", tt.a, tt.b, got, tt.want)
		}
	}
}
