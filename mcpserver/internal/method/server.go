package method

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/tool"
)

// listTTL is how long a client may cache the description and the lists, which do not
// change while a server runs. After an upgrade, clients see the old ones for at most that
// long.
const listTTL = time.Hour

// A Config configures a Server.
type Config struct {
	Dialect dialect.Dialect
	Name    string       // name for clients; empty means "sequent"
	Version string       // of the program; empty means "dev"
	Logger  *slog.Logger // internal errors, never a text of a client; nil means discard
	// Place returns what is known of a directory of this machine, and of the working
	// directory if dir is empty; nil means nothing.
	Place     func(dir string) sequent.Context
	Anonymous bool     // sessions do not record where they come from
	Observer  Observer // nil means none
}

// A Server answers requests for one dialect. It is safe for concurrent use.
type Server struct {
	dialect   dialect.Dialect
	logger    *slog.Logger
	tools     map[string]*tool.Tool
	place     func(dir string) sequent.Context
	anonymous bool
	observer  Observer // nil for none
	lanes     bool     // a tool has lanes
	templates []template
	apps      *Server // answers clients that show pages; nil if the dialect has none for them
	varies    bool    // these clients get another description

	capabilities  []byte // an object
	info          []byte // name and version, an object
	instructions  []byte // a string; nil if there are none
	modernMembers []byte // the first members of results of the modern era
	lists         lists
}

// New returns a Server. It panics if a template of the dialect does not have
// exactly one variable.
func New(cfg Config) *Server {
	cfg.Dialect = withSkills(cfg.Dialect)
	plain := withoutApps(cfg.Dialect)
	if len(plain.Tools) == len(cfg.Dialect.Tools) && len(plain.Resources) == len(cfg.Dialect.Resources) {
		return newServer(cfg, false)
	}
	apps := newServer(cfg, true)
	cfg.Dialect = plain
	s := newServer(cfg, true)
	s.apps = apps
	return s
}

func newServer(cfg Config, varies bool) *Server {
	d := cfg.Dialect
	s := &Server{
		varies:  varies,
		dialect: d, logger: cfg.Logger, tools: make(map[string]*tool.Tool, len(d.Tools)),
		place: cfg.Place, anonymous: cfg.Anonymous, observer: cfg.Observer,
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	for i := range d.Tools {
		s.tools[d.Tools[i].Name] = &d.Tools[i]
		s.lanes = s.lanes || d.Tools[i].Lane != nil
	}
	for i := range d.Templates {
		s.templates = append(s.templates, newTemplate(&d.Templates[i]))
	}
	s.info = mustMarshal(struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}{cmp.Or(cfg.Name, "sequent"), cmp.Or(cfg.Version, "dev")})
	s.modernMembers = s.AppendCommon(nil, nil)
	s.capabilities = s.declare()
	if d.Instructions != "" {
		s.instructions = message.AppendQuoted(nil, d.Instructions)
	}
	s.lists = newLists(d, varies)
	return s
}

// AppendCommon appends the first members of a result of the modern era: the server,
// further members of _meta, and the mark of a complete result.
func (s *Server) AppendCommon(result, meta []byte) []byte {
	result = append(result, `"_meta":{"`+message.MetaServer+`":`...)
	result = append(result, s.info...)
	if meta != nil {
		result = append(append(result, ','), meta...)
	}
	return append(result, `},"resultType":"complete"`...)
}

// Name returns the name of the dialect.
func (s *Server) Name() string { return s.dialect.Name }

// Lane returns the lane of a tool call (see [tool.Tool]); empty for other requests.
func (s *Server) Lane(r *Request) string {
	if !s.lanes || r.Method != callTool {
		return ""
	}
	name, args, ok := callParams(r.Params)
	if t := s.of(r).tools[string(name)]; ok && t != nil && t.Lane != nil {
		return t.Lane(tool.Call{Args: args, Caller: r.Caller})
	}
	return ""
}

// declare returns the capabilities of the server. Declared lists do not change.
func (s *Server) declare() []byte {
	type resources struct {
		Subscribe bool `json:"subscribe,omitempty"`
	}
	var c struct {
		Completions *struct{}  `json:"completions,omitempty"`
		Extensions  any        `json:"extensions,omitempty"`
		Prompts     *struct{}  `json:"prompts,omitempty"`
		Resources   *resources `json:"resources,omitempty"`
		Tools       *struct{}  `json:"tools,omitempty"`
	}
	extensions := make(map[string]struct{})
	if s.showsApps() {
		extensions[appsExtension] = struct{}{}
	}
	if s.hasSkills() {
		extensions[skillsExtension] = struct{}{}
	}
	if len(extensions) > 0 {
		c.Extensions = extensions
	}
	if s.completes() {
		c.Completions = new(struct{})
	}
	if s.hasPrompts() {
		c.Prompts = new(struct{})
	}
	if s.hasResources() {
		c.Resources = &resources{Subscribe: s.watches()}
	}
	if s.hasTools() {
		c.Tools = new(struct{})
	}
	return mustMarshal(c)
}

// Features of the dialect. The methods of the others are not served.

func (s *Server) hasTools() bool     { return len(s.dialect.Tools) > 0 }
func (s *Server) hasPrompts() bool   { return len(s.dialect.Prompts) > 0 }
func (s *Server) hasResources() bool { return len(s.dialect.Resources)+len(s.dialect.Templates) > 0 }

func (s *Server) watches() bool {
	return slices.ContainsFunc(s.dialect.Templates, func(t dialect.Template) bool { return t.Watch != nil })
}

func (s *Server) completes() bool {
	return slices.ContainsFunc(s.dialect.Templates, func(t dialect.Template) bool { return t.Complete != nil }) ||
		slices.ContainsFunc(s.dialect.Prompts, func(p dialect.Prompt) bool {
			return slices.ContainsFunc(p.Arguments, func(a dialect.Argument) bool { return a.Complete != nil })
		})
}

// mustMarshal encodes a value that can always be encoded.
func mustMarshal(v any) []byte {
	b, err := message.Marshal(v)
	if err != nil {
		panic("mcpserver: " + err.Error())
	}
	return b
}
