package draw

import "testing"

// The halfwidth katakana sound marks take a column each on a terminal.
func TestKatakanaSoundMarks(t *testing.T) {
	const text = "\uff76\uff9e\uff8a\uff9f" // two characters, a mark after each
	if got := Width(text); got != 4 {
		t.Errorf("width %d, want 4", got)
	}
	for width, want := range []string{"", "…", "…", "\uff76\uff9e…", text} {
		if got := Truncate(text, width); got != want {
			t.Errorf("%d columns: got %q, want %q", width, got, want)
		}
	}
	for _, row := range wrap(text+text+text, 0, 5) {
		if got := Width(row); got > 5 {
			t.Errorf("row %q has %d columns of 5", row, got)
		}
	}
}
