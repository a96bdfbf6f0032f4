package protocol

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// A Place returns the project of a directory of this machine, or of the working directory if
// dir is empty, and a function that reads the branch and commit that are checked out there;
// nil if there is none. A Place is called for each request and must not read files each time;
// head is called for requests that begin a session. Both must be safe for concurrent use.
type Place func(dir string) (project string, head func() (branch, commit string))

// A Config configures a Server.
type Config struct {
	Dialect  dialect.Dialect
	Name     string       // name for clients; empty means "sequent"
	Version  string       // of the program; empty means "dev"
	Logger   *slog.Logger // internal errors, never a text of a client; nil means discard
	Place    Place        // nil means that no directory is looked at
	NoOrigin bool         // sessions do not record where they come from
	Observer Observer     // nil means none
}

// A Server answers requests for one dialect. It is safe for concurrent use.
type Server struct {
	dialect   dialect.Dialect
	logger    *slog.Logger
	tools     map[string]*tool.Tool
	place     Place
	noOrigin  bool
	observer  Observer // nil for none
	lanes     bool     // a tool has lanes
	templates []template
	apps      *Server // answers clients that show pages; nil if the dialect has none for them
	varies    bool    // these clients get another description

	features     map[feature]bool
	capabilities json.RawMessage
	info         json.RawMessage            // name and version
	lists        map[string]json.RawMessage // results, by method
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
		place: cfg.Place, noOrigin: cfg.NoOrigin, observer: cfg.Observer,
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
	s.features = featuresOf(d)
	s.capabilities = s.declare()
	s.lists = newLists(d, varies)
	return s
}

// Name returns the name of the dialect.
func (s *Server) Name() string { return s.dialect.Name }

// Lane returns the lane of a tool call (see [tool.Tool]); empty for other requests.
func (s *Server) Lane(r *Request) string {
	if !s.lanes || r.Method != callTool {
		return ""
	}
	name, args, ok := callParams(r.Params)
	if t := s.tools[string(name)]; ok && t != nil && t.Lane != nil {
		return t.Lane(tool.Call{Args: args, Caller: r.Caller})
	}
	return ""
}

// A feature is a part of a dialect. The methods of those that a dialect lacks are not served.
type feature int

const (
	none feature = iota
	tools
	resources
	watches
	prompts
	completions
	skills
	apps
)

// featuresOf returns the features of a dialect.
func featuresOf(d dialect.Dialect) map[feature]bool {
	f := map[feature]bool{
		none: true, tools: len(d.Tools) > 0, resources: len(d.Resources)+len(d.Templates) > 0, prompts: len(d.Prompts) > 0,
		skills: len(d.Skills) > 0, apps: slices.ContainsFunc(d.Resources, func(r dialect.Resource) bool { return r.App }),
	}
	for _, t := range d.Templates {
		f[watches], f[completions] = f[watches] || t.Watch != nil, f[completions] || t.Complete != nil
	}
	for _, p := range d.Prompts {
		for _, a := range p.Arguments {
			f[completions] = f[completions] || a.Complete != nil
		}
	}
	return f
}

func (s *Server) has(f feature) bool { return s.features[f] }

// declare returns the capabilities of the server. Declared lists do not change.
func (s *Server) declare() json.RawMessage {
	type object map[string]any
	c := make(object) // encoded in the order of names
	for f, name := range map[feature]string{completions: "completions", prompts: "prompts", resources: "resources", tools: "tools"} {
		if s.has(f) {
			c[name] = object{}
		}
	}
	if s.has(watches) {
		c["resources"] = object{"subscribe": true}
	}
	extensions := make(object)
	for f, name := range map[feature]string{apps: appsExtension, skills: skillsExtension} {
		if s.has(f) {
			extensions[name] = object{}
		}
	}
	if len(extensions) > 0 {
		c["extensions"] = extensions
	}
	return mustMarshal(c)
}
