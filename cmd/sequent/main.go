// Command sequent records the chains of thought of AI agents.
//
//	sequent demo     record and draw an example session over a real MCP connection
//	sequent serve    run the MCP server, on standard input and output or over HTTP
//	sequent --help   list all commands
//
// The exit code is 0 for success, 1 for a failure and 2 for incorrect usage.
package main

import (
	"os"

	"github.com/sequent-dev/sequent/command"
)

func main() { os.Exit(command.Main(command.Config{})) }
