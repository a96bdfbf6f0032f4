package mcpserver

import (
	"context"
	"io"
	"log/slog"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver/internal/conn"
	"github.com/sequent-dev/sequent/mcpserver/internal/protocol"
	"github.com/sequent-dev/sequent/tool"
)

// defaultMaxLine limits a line of input, in bytes. It is far above the 64 KiB of a
// thought, and small enough to hold in memory.
const defaultMaxLine = 16 << 20

// A Config configures a Server.
type Config struct {
	Dialect dialect.Dialect // required: what is served
	Name    string          // name for clients; empty means "sequent"
	Version string          // of the program; empty means "dev"
	Logger  *slog.Logger    // internal errors, never a text of a client; nil means discard
	Caller  tool.Caller     // the caller on standard input
	Agent   string          // label of that caller; empty means the name of the client
	MaxLine int             // maximum bytes of a line of standard input; 0 means 16 MiB

	// Place is called with the directories that clients name as their roots, and with an
	// empty string for the working directory of a client on standard input. Nil means that
	// no directory is looked at.
	Place Place
	// NoOrigin means that sessions do not record where they come from (see
	// [sequent.Origin]), and that calls of all projects are alike.
	NoOrigin bool
	// Observer is told of all requests, for traces, metrics and logs; nil means none.
	Observer Observer
}

// What a Config refers to.
type (
	// A Place tells the project of a directory, and what reads its branch and commit.
	Place = protocol.Place
	// An Observer is told of the requests of all connections.
	Observer = protocol.Observer
	// An Exchange is a request with its outcome.
	Exchange = protocol.Exchange
	// A Via is how requests reach the server.
	Via = protocol.Via
	// A TraceContext has the headers of W3C Trace Context.
	TraceContext = protocol.TraceContext
)

// A Server serves one dialect. It is safe for concurrent use.
type Server struct {
	methods *protocol.Server
	caller  tool.Caller
	agent   string
	maxLine int
}

// New returns a Server. It panics if a template of the dialect does not have
// exactly one variable.
func New(cfg Config) *Server {
	s := &Server{
		methods: protocol.New(protocol.Config{
			Dialect: cfg.Dialect, Name: cfg.Name, Version: cfg.Version, Logger: cfg.Logger,
			Place: cfg.Place, NoOrigin: cfg.NoOrigin, Observer: cfg.Observer,
		}),
		caller:  cfg.Caller,
		agent:   cfg.Agent,
		maxLine: cfg.MaxLine,
	}
	if s.maxLine <= 0 {
		s.maxLine = defaultMaxLine
	}
	return s
}

// ServeStdio serves one client, which writes to in and reads from out, until in ends or
// ctx is done. It then answers everything that it has read, and returns nil; it returns
// an error if in or out fails before. Calls that last for seconds after ctx is done are
// cancelled and get no reply.
//
//   - Requests are answered one after the other, in the order of arrival, and so
//     are their replies. A call of a tool with lanes (see [tool.Tool]) keeps that
//     order in its lane, which runs beside the others, and a subscription lasts
//     until it is cancelled. Pings and cancellations overtake waiting calls.
//   - Every request gets one reply, with its id as it was written. A cancelled
//     request gets none, and does not begin if it was still waiting.
//   - A line that is not a request gets an error. A line longer than
//     Config.MaxLine is skipped without being kept in memory.
//   - Replies that follow each other quickly are written together, and a single
//     reply at once. The server waits for a client that does not read, with
//     bounded memory; once ctx is done, only for some seconds per write.
//   - Nothing but messages of the protocol is written to out.
//
// ServeStdio closes neither in nor out. If ctx ends, it leaves a goroutine that waits in
// a Read of in, and possibly one in a Write to out, until these return: no portable call
// interrupts a read of standard input. With os.Stdin that is until the process exits. The
// same holds if out fails.
//
// A program that serves os.Stdout should ignore SIGPIPE. Otherwise a client that
// disconnects ends the program before it can clean up.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	return conn.Serve(ctx, conn.Config{
		Server: s.methods, Caller: s.caller, Via: Via{Transport: protocol.Pipe, Agent: s.agent},
	}, conn.Lines(in, out, s.maxLine))
}
