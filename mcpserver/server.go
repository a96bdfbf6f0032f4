package mcpserver

import (
	"context"
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/stdio"
	"github.com/sequent-dev/sequent/tool"
)

// defaultMaxLine bounds a line of input. It is far above the 64 KiB of a thought
// and what other servers accept, and small enough to hold in memory.
const defaultMaxLine = 16 << 20

// A Config configures a Server.
type Config struct {
	Dialect dialect.Dialect // required: what is served
	Name    string          // that clients see; empty means "sequent"
	Version string          // of the program; empty means "dev"
	Logger  *slog.Logger    // faults, never what a client sent; nil means discard
	Caller  tool.Caller     // who is at the other end of standard input
	MaxLine int             // bytes of a line of standard input; 0 means 16 MiB
}

// A Server serves one dialect. It is safe for concurrent use.
type Server struct {
	methods *method.Server
	caller  tool.Caller
	maxLine int
}

// New makes a Server. It panics if a template of the dialect does not have
// exactly one variable.
func New(cfg Config) *Server {
	s := &Server{
		methods: method.New(method.Config{Dialect: cfg.Dialect, Name: cfg.Name, Version: cfg.Version, Logger: cfg.Logger}),
		caller:  cfg.Caller,
		maxLine: cfg.MaxLine,
	}
	if s.maxLine <= 0 {
		s.maxLine = defaultMaxLine
	}
	return s
}

// ServeStdio serves one client, which writes to in and reads from out, until in
// ends or ctx is done. It then answers what it has read, and returns nil; it
// returns an error if in or out fails before. Calls that go on for seconds after
// ctx is done are cancelled, and get no reply.
//
//   - Requests are answered one after the other, in the order they came, and so
//     are their replies. A call of a tool that has lanes (see [tool.Tool]) keeps
//     that order in its lane, beside the others, and a subscription lasts until
//     it is cancelled. Ping and a cancellation overtake what is waiting.
//   - Every request gets one reply, with its id as it was written, except one
//     that was cancelled, which gets none and if it had to wait is never begun.
//   - A line that is not a request gets an error and does no harm. A line longer
//     than Config.MaxLine is skipped without being kept.
//   - Replies are written together where they come quickly, and at once where no
//     other follows. A client that does not read is waited for, within bounds of
//     memory; once ctx is done only for some seconds a write.
//   - Nothing but messages of the protocol is written to out.
//
// ServeStdio closes neither in nor out. If ctx ends it leaves a goroutine behind
// that waits in a Read of in, and at worst one in a Write to out, until these
// return: there is no way to interrupt a read of standard input that works
// everywhere. With os.Stdin that is until the process ends, which should be soon.
// The same holds if out fails.
//
// A program that serves os.Stdout should ignore SIGPIPE, or a client that goes
// away ends the program before it can clean up.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return stdio.Serve(ctx, stdio.Config{Server: s.methods, Caller: s.caller, MaxLine: s.maxLine}, in, out)
}
