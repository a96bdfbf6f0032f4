package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// serverName is how the server introduces itself, whatever the dialect.
const serverName = "sequent"

// listTTL is how long a client may keep what never changes while a server runs:
// its description and its lists. It bounds how long an upgrade goes unnoticed.
const listTTL = time.Hour

// defaultMaxLine bounds a line of input. It is far above the 64 KiB of a thought
// and what other servers accept, and small enough to hold in memory.
const defaultMaxLine = 16 << 20

// A Config configures a Server.
type Config struct {
	Dialect dialect.Dialect // required: what is served
	Version string          // of the program; empty means "dev"
	Logger  *slog.Logger    // faults, never what a client sent; nil means discard
	Caller  tool.Caller     // who is at the other end of standard input
	MaxLine int             // bytes of a line of standard input; 0 means 16 MiB
	SDKOnly bool            // have the SDK answer plain calls too
}

// A Server serves one dialect. It is safe for concurrent use.
type Server struct {
	dialect dialect.Dialect
	caller  tool.Caller
	logger  *slog.Logger
	maxLine int
	sdkOnly bool
	mcp     *mcp.Server
	order   map[string]int // rank in its list, by kind and name: "tool/recall_thinking"

	modernMeta string // the first member of results of the modern era, with a comma
	clients    jury   // over HTTP
	watches    watches
}

// New makes a Server. It panics if the dialect cannot be published: a schema
// that is not one, a template without exactly one variable.
func New(cfg Config) *Server {
	s := &Server{
		dialect: cfg.Dialect,
		caller:  cfg.Caller,
		logger:  cfg.Logger,
		maxLine: cfg.MaxLine,
		sdkOnly: cfg.SDKOnly,
		order:   make(map[string]int),
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.maxLine <= 0 {
		s.maxLine = defaultMaxLine
	}

	d := cfg.Dialect
	opts := &mcp.ServerOptions{
		Instructions: d.Instructions,
		// What the SDK would log are mistakes of clients, now and then with what
		// they sent.
		Logger:       slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{},
		SetCacheable: cacheable,
	}
	// Naming a capability here keeps the SDK from promising that its list changes.
	if len(d.Tools) > 0 {
		opts.Capabilities.Tools = &mcp.ToolCapabilities{}
	}
	if len(d.Resources)+len(d.Templates) > 0 {
		opts.Capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	if len(d.Prompts) > 0 {
		opts.Capabilities.Prompts = &mcp.PromptCapabilities{}
	}
	if completes(d) {
		opts.CompletionHandler = s.complete
	}
	if s.canWatch() {
		opts.SubscribeHandler, opts.UnsubscribeHandler = s.subscribe, s.unsubscribe
	}
	program := &mcp.Implementation{Name: serverName, Version: cmp.Or(cfg.Version, "dev")}
	s.mcp = mcp.NewServer(program, opts)
	s.mcp.AddReceivingMiddleware(s.receive)

	for i, t := range d.Tools {
		s.order["tool/"+t.Name] = i
		s.mcp.AddTool(published(t.Spec), s.callTool(t))
	}
	for i, r := range d.Resources {
		s.order["resource/"+r.URI] = i
		s.mcp.AddResource(&mcp.Resource{
			URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME,
		}, s.readResource(r))
	}
	for i, t := range d.Templates {
		s.order["template/"+t.URI] = i
		s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: t.URI, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: t.MIME,
		}, s.readTemplate(t))
	}
	for i, p := range d.Prompts {
		s.order["prompt/"+p.Name] = i
		args := make([]*mcp.PromptArgument, len(p.Arguments))
		for j, a := range p.Arguments {
			args[j] = &mcp.PromptArgument{
				Name: a.Name, Title: a.Title, Description: a.Description, Required: a.Required,
			}
		}
		s.mcp.AddPrompt(&mcp.Prompt{
			Name: p.Name, Title: p.Title, Description: p.Description, Arguments: args,
		}, s.getPrompt(p))
	}
	meta, err := marshal(mcp.Meta{mcp.MetaKeyServerInfo: program})
	if err != nil {
		panic(fmt.Sprintf("mcpserver: %v", err)) // two strings cannot fail
	}
	s.modernMeta = `"_meta":` + string(meta) + ","
	return s
}

// toolNamed returns a tool of the dialect, or nil.
func (s *Server) toolNamed(name string) *tool.Tool {
	if i, ok := s.order["tool/"+name]; ok {
		return &s.dialect.Tools[i]
	}
	return nil
}

// published returns what a client is told of a tool.
func published(spec tool.Spec) *mcp.Tool {
	t := &mcp.Tool{
		Name: spec.Name, Title: spec.Title, Description: spec.Description,
		InputSchema: spec.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint:    spec.Annotations.ReadOnly,
			DestructiveHint: new(spec.Annotations.Destructive),
			IdempotentHint:  spec.Annotations.Idempotent,
			OpenWorldHint:   new(spec.Annotations.OpenWorld),
		},
	}
	if spec.OutputSchema != nil {
		t.OutputSchema = spec.OutputSchema
	}
	return t
}

// cacheable says how long a client may keep a result, and who may. Documents
// are someone's thoughts and change with every call.
func cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	if _, ok := req.(*mcp.ReadResourceRequest); ok {
		c.TTLMs, c.CacheScope = 0, "private"
		return
	}
	c.TTLMs, c.CacheScope = int(listTTL.Milliseconds()), "public"
}

// sortByRank puts a list, which the SDK sorts by name, in the dialect's order.
func sortByRank[T any](s *Server, kind string, list []T, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Compare(s.order[kind+name(a)], s.order[kind+name(b)])
	})
}

// variable returns the parts of a template around its variable, and its name.
// A plus before the name lets its values have slashes in them (RFC 6570).
func variable(uri string) (before, name, after string) {
	before, rest, ok := strings.Cut(uri, "{")
	name, after, closed := strings.Cut(rest, "}")
	name = strings.TrimPrefix(name, "+")
	if !ok || !closed || name == "" || strings.ContainsAny(after, "{}") {
		panic(fmt.Sprintf("mcpserver: template %q must have exactly one variable", uri))
	}
	return before, name, after
}
