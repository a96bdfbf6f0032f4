package index

import "time"

// SetEmbedTimeout limits how long a hybrid search waits for the model.
func (x *Index) SetEmbedTimeout(d time.Duration) { x.embedTimeout = d }

// Unwatch makes the index compare all notes before each search.
func (x *Index) Unwatch() { x.newWatch = func(string) *watch { return nil } }

// Watched reports whether the system tells which notes have changed.
func (x *Index) Watched() bool { return x.watch != nil }
