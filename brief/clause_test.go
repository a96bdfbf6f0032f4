package brief

import "testing"

func TestClause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"Conclusion: the pool leaks.", "the pool leaks."},
		{"**Conclusion:** the pool leaks.", "the pool leaks."},
		{"## Conclusion\n\nThe pool leaks.", "The pool leaks."},
		{"Conclusion. 1) The pool leaks. 2) Close rows.", "The pool leaks. 2) Close rows."},
		{"Answer, in order of gain. (1) Close rows in `retry.go`.", "Close rows in `retry.go`."},
		{"Review result, by harm: (1) rows stay open.", "rows stay open."},
		{"FINAL ANSWER: Result: rows stay open.", "rows stay open."},
		{"Plan, four PRs. 1 (no new dependency): close rows.", "1 (no new dependency): close rows."},
		{"Answer.", "Answer."},
		{"Planned: nothing. The plan was wrong.", "Planned: nothing. The plan was wrong."},
		{"Results are cached too long.", "Results are cached too long."},
		{"", ""},
		{
			"The pool leaks when a query is cancelled; the fix is to close the rows in a deferred call.",
			"The pool leaks when a query is cancelled …",
		},
		{"The pool leaks because nothing closes the rows of a query that was cancelled", "The pool leaks because nothing closes the rows of …"},
	} {
		if got := Clause(c.text, 55); got != c.want {
			t.Errorf("Clause(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
