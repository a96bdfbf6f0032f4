// Command sequent records the chains of thought of AI agents.
//
//	sequent demo     record and draw an example session over a real MCP connection
//	sequent serve    run the MCP server, on standard input and output or over HTTP
//	sequent --help   list all commands
//
// The exit code is 0 for success, 1 for a failure and 2 for incorrect usage.
package main

import (
	"context"
	"os"
	"os/signal"
	"time"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills the program, even if it hangs
	p := &program{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, now: time.Now,
	}
	return p.main(ctx, os.Args[1:])
}
