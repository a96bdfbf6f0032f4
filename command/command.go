// Package command is the command line of the program sequent, for programs that add
// dialects of their own:
//
//	func main() {
//		os.Exit(command.Main(command.Config{Dialects: []dialect.Builder{{Name: mine.Name, Build: mine.New}}}))
//	}
//
// See docs/write-a-dialect.md.
package command

import (
	"context"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent/dialect"
)

// A Config configures the command line. The zero Config is that of sequent.
type Config struct {
	// Dialects are served beside those of this module: on standard input and output
	// with serve --dialect NAME, over HTTP at /mcp/NAME. A name is made of lower-case
	// letters, digits and hyphens; no other dialect has it.
	Dialects []dialect.Builder
}

// Main runs the command line of the process and returns its exit code: 0 for success,
// 1 for a failure and 2 for incorrect usage. It reads os.Args, the environment and
// standard input, and handles signals. Call it once.
func Main(cfg Config) int {
	cobra.EnableCommandSorting = false // help lists commands by their use
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills the program, even if it hangs
	p := &program{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, now: time.Now, dialects: cfg.Dialects,
	}
	return p.main(ctx, os.Args[1:])
}
