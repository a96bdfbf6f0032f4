// Command sequent records chains of thought for AI agents and gives them back.
//
//	sequent demo     a whole session over a real MCP connection, drawn as it grows
//	sequent serve    the MCP server, on standard input and output or over HTTP
//	sequent --help   the rest
//
// It exits with 0 if all went well, 1 if something failed and 2 if it was used
// in a way that it does not understand.
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
	context.AfterFunc(ctx, stop) // the second signal is not caught: it ends a program that hangs
	p := &program{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.Getenv, now: time.Now,
	}
	return p.main(ctx, os.Args[1:])
}
