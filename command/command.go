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
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
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

// A build describes this binary.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Date     string `json:"date,omitempty"` // time of the commit, RFC 3339
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// modulePath is the path of this module.
const modulePath = "github.com/sequent-dev/sequent"

// buildInfo describes the binary by the version of this module, which is a dependency
// in a program with dialects of another module.
func buildInfo() build {
	b := build{Version: "dev", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	module := &info.Main
	if module.Path != modulePath {
		if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == modulePath }); i >= 0 {
			module = info.Deps[i]
		}
		info.Settings = nil // of the other module
	}
	if module.Replace == nil && module.Version != "" && module.Version != "(devel)" {
		b.Version = module.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

func (b build) String() string {
	s := "sequent " + b.Version
	if b.Revision != "" {
		s += " (" + b.Revision[:min(len(b.Revision), 12)]
		if day, _, ok := strings.Cut(b.Date, "T"); ok {
			s += ", " + day
		}
		s += ")"
	}
	return fmt.Sprintf("%s %s %s/%s", s, cmp.Or(b.Go, "go"), b.OS, b.Arch)
}

func (b build) text(pg *page) { pg.say("%s", b) }

func runVersion(*program, context.Context) (result, error) { return buildInfo(), nil }
