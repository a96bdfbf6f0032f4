package index

// Unwatch makes the index compare all notes before each search.
func (x *Index) Unwatch() { x.newWatch = func(string) *watch { return nil } }

// Watched reports whether the system tells which notes have changed.
func (x *Index) Watched() bool { return x.watch != nil }
