//go:build !linux

package index

// A watch is for Linux alone: other systems do not tell at once and without gaps what has
// changed in a tree of folders, or need an open file for each note.
type watch struct{}

func newWatch(string) *watch { return nil }

func (*watch) changed(map[string]bool) bool { return false }

func (*watch) close() {}
