package dialect

import (
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent"
)

// An Env is what a program gives to a dialect. The program sets all fields; only Dir
// can be empty. A dialect that needs more, such as a language model, gets it from the
// function that builds it.
type Env struct {
	Engine *sequent.Engine // records sessions
	Rand   io.Reader       // source of session ids, safe for concurrent use
	Logger *slog.Logger    // for faults, never for thoughts

	// Dir is the directory for files that people read. It may not exist yet. It is
	// empty if the user has no home directory and named no other directory.
	Dir string

	// Stderr is for what people watch while they work with the one client of a server,
	// such as drawings of thoughts. With several clients it discards what is written.
	Stderr io.Writer
}

// A Builder builds a dialect for a program that serves several. Build runs when the
// dialect is needed, so that a program can name all dialects without a store.
type Builder struct {
	Name  string // the name of the dialect, as in Dialect.Name
	Build func(env Env) (Dialect, error)
}
