package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"

	"github.com/sequent-dev/sequent/dialect"
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

// A Place returns the project of a directory of this machine, or of the working directory if
// dir is empty, and a function that reads the branch and commit that are checked out there;
// nil if there is none. A Place is called for each request and must not read files each time;
// head is called for requests that begin a session. Both must be safe for concurrent use.
type Place func(dir string) (project string, head func() (branch, commit string))

// A Server serves one dialect. It is safe for concurrent use.
type Server struct {
	config    Config
	tools     map[string]*tool.Tool
	lanes     bool // a tool has lanes
	templates []template
	skills    []publishedSkill
	apps      *Server // answers clients that show pages; nil if the dialect has none for them

	offers       map[string]bool // what the dialect has; see methods
	capabilities json.RawMessage
	info         json.RawMessage            // name and version
	lists        map[string]json.RawMessage // results, by method
}

// New returns a Server. It panics if a template of the dialect does not have
// exactly one variable.
func New(cfg Config) *Server {
	s := newServer(cfg)
	if !s.offers["apps"] {
		return s
	}
	d := &cfg.Dialect
	d.Tools = slices.DeleteFunc(slices.Clone(d.Tools), func(t tool.Tool) bool { return t.App != nil })
	d.Resources = slices.DeleteFunc(slices.Clone(d.Resources), func(r dialect.Resource) bool { return r.App })
	plain := newServer(cfg)
	plain.apps = s
	return plain
}

func newServer(cfg Config) *Server {
	d := &cfg.Dialect
	skills, texts := publishedSkills(d.Skills)
	d.Resources = slices.Concat(d.Resources, texts)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &Server{config: cfg, skills: skills, tools: make(map[string]*tool.Tool), lists: newLists(*d, skills)}
	s.offers = map[string]bool{
		"": true, "tools": len(d.Tools) > 0, "resources": len(d.Resources)+len(d.Templates) > 0, "prompts": len(d.Prompts) > 0,
		"skills": len(skills) > 0, "apps": slices.ContainsFunc(d.Resources, func(r dialect.Resource) bool { return r.App }),
	}
	for i, t := range d.Tools {
		s.tools[t.Name] = &d.Tools[i]
		s.lanes = s.lanes || t.Lane != nil
	}
	for i, t := range d.Templates {
		s.templates = append(s.templates, newTemplate(&d.Templates[i]))
		s.offers["subscribe"] = s.offers["subscribe"] || t.Watch != nil
		s.offers["completions"] = s.offers["completions"] || t.Complete != nil
	}
	for _, p := range d.Prompts {
		for _, a := range p.Arguments {
			s.offers["completions"] = s.offers["completions"] || a.Complete != nil
		}
	}
	s.info = mustMarshal(struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}{cmp.Or(cfg.Name, "sequent"), cmp.Or(cfg.Version, "dev")})
	s.capabilities = capabilitiesFor(s.offers)
	return s
}

// capabilitiesFor returns the capabilities of a server. Declared lists do not change.
func capabilitiesFor(offers map[string]bool) json.RawMessage {
	type object map[string]any
	all, extensions := make(object), make(object) // encoded in the order of names
	for _, name := range []string{"completions", "prompts", "resources", "tools"} {
		if offers[name] {
			all[name] = object{}
		}
	}
	if offers["subscribe"] {
		all["resources"] = object{"subscribe": true}
	}
	for offer, name := range map[string]string{"apps": appsExtension, "skills": skillsExtension} {
		if offers[offer] {
			extensions[name], all["extensions"] = object{}, extensions
		}
	}
	return mustMarshal(all)
}

// name returns the name of the dialect.
func (s *Server) name() string { return s.config.Dialect.Name }

// lane returns the lane of a tool call (see [tool.Tool]); empty for other requests.
func (s *Server) lane(r *request) string {
	if !s.lanes || r.Method != methodCall {
		return ""
	}
	name, args, ok := callParams(r.Params)
	if t := s.tools[string(name)]; ok && t != nil && t.Lane != nil {
		return t.Lane(tool.Call{Args: args, Caller: r.Caller})
	}
	return ""
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
	limit := s.config.MaxLine
	if limit <= 0 {
		limit = defaultMaxLine
	}
	return serve(ctx, serveConfig{
		server: s, caller: s.config.Caller, via: Via{Transport: overPipe, Agent: s.config.Agent},
	}, newLines(in, out, limit))
}
