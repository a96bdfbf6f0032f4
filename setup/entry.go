package setup

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// A Server is what an entry says: which program to start, or which URL to connect to.
type Server struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"` // in addition to the client's own

	URL      string `json:"url,omitempty"`
	TokenEnv string `json:"tokenEnv,omitempty"` // variable with the bearer token for URL; empty sends none
}

// A shape is what the entries of a client look like. Its zero value has "command",
// "args" and "env", and no entries with a URL.
type shape struct {
	command string // key of the program; empty means "command"
	joined  bool   // the program and its arguments are one list
	env     string // key of the environment; empty means "env"
	kind    string // "type" of a program
	source  string // "source"
	name    bool   // the entry repeats its name
	enabled bool   // "enabled": true
	tools   bool   // "tools": all of them; only in the file for all projects
	timeout int    // "timeout", in seconds

	url       string // key of the URL; empty means that URLs are not supported
	remote    string // "type" of a URL
	bearer    string // value of the header Authorization, where NAME is the variable; empty means that it cannot be read from the environment
	tokenKey  string // key of the variable's name, instead of a header
	tokenKeys string // key of a list of variables that headers may use
}

// A field is one member of an entry. Value is a string, a bool, an int, a []string or
// a list of fields.
type field struct {
	key     string
	value   any
	initial bool // only for a new entry: later it belongs to the user
}

// The keys that say which program to start or which URL to connect to, in any shape.
var (
	programKeys = []string{"command", "args", "cmd"}
	remoteKeys  = []string{"url", "httpUrl", "serverUrl", "uri", "headers", "http_headers", "bearer_token_env_var"}
)

// ErrNoRemote means that a client's file cannot have an entry with a URL.
var ErrNoRemote = errors.New("cannot connect to a URL from its configuration file")

// ErrNoToken means that a client's file cannot refer to a token in the environment.
var ErrNoToken = errors.New("cannot read a token from the environment")

// fields returns the members of an entry in the shape of a client.
func (c Client) fields(s Server, project bool) ([]field, error) {
	p := c.shape
	var list []field
	if p.name {
		list = append(list, field{key: "name", value: EntryName}, field{key: "description", value: "Thinks step by step and records each thought.", initial: true})
	}
	if p.source != "" {
		list = append(list, field{key: "source", value: p.source, initial: true})
	}
	kind := p.kind
	if s.URL != "" {
		kind = p.remote
	}
	if kind != "" {
		list = append(list, field{key: "type", value: kind})
	}
	if s.URL != "" {
		more, err := c.remoteFields(s)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	} else {
		args := slices.Clone(s.Args)
		if args == nil {
			args = []string{}
		}
		if p.joined {
			list = append(list, field{key: "command", value: append([]string{s.Command}, args...)})
		} else {
			list = append(list, field{key: or(p.command, "command"), value: s.Command}, field{key: "args", value: args})
		}
		if len(s.Env) > 0 {
			var env []field
			for _, key := range slices.Sorted(maps.Keys(s.Env)) {
				env = append(env, field{key: key, value: s.Env[key]})
			}
			list = append(list, field{key: or(p.env, "env"), value: env})
		}
	}
	if p.enabled {
		list = append(list, field{key: "enabled", value: true, initial: true})
	}
	if p.timeout > 0 {
		list = append(list, field{key: "timeout", value: p.timeout, initial: true})
	}
	if p.tools && !project {
		list = append(list, field{key: "tools", value: []string{"*"}, initial: true})
	}
	return list, nil
}

func (c Client) remoteFields(s Server) ([]field, error) {
	p := c.shape
	if p.url == "" {
		return nil, fmt.Errorf("%s %w", c.Name, ErrNoRemote)
	}
	list := []field{{key: p.url, value: s.URL}}
	switch {
	case s.TokenEnv == "":
	case p.tokenKey != "":
		list = append(list, field{key: p.tokenKey, value: s.TokenEnv})
	case p.bearer != "":
		value := strings.ReplaceAll(p.bearer, "NAME", s.TokenEnv)
		list = append(list, field{key: "headers", value: []field{{key: "Authorization", value: value}}})
		if p.tokenKeys != "" {
			list = append(list, field{key: p.tokenKeys, value: []string{s.TokenEnv}})
		}
	default:
		return nil, fmt.Errorf("%s %w", c.Name, ErrNoToken)
	}
	return list, nil
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// variableName matches the reference to a variable in the header of a bearer token.
var variableName = lazyregexp.New(`^Bearer (?:\$\{(?:env:)?(\w+)\}|\$(\w+)|\{env:(\w+)\})$`)

// decode returns what an entry says, in the shape of any client. It reports false if the
// entry names neither a program nor a URL.
func decode(entry map[string]any) (s Server, ok bool) {
	text := func(keys ...string) string {
		for _, key := range keys {
			if v, ok := entry[key].(string); ok {
				return v
			}
		}
		return ""
	}
	s.Command = text("command", "cmd")
	s.Args = list(entry["args"])
	switch command := entry["command"].(type) {
	case []any: // OpenCode
		if all := list(command); len(all) > 0 {
			s.Command, s.Args = all[0], all[1:]
		}
	case map[string]any: // Zed, formerly
		s.Command, _ = command["path"].(string)
		s.Args = list(command["args"])
	}
	for _, key := range []string{"env", "environment", "envs"} {
		if env, ok := entry[key].(map[string]any); ok && len(env) > 0 {
			s.Env = make(map[string]string)
			for name, value := range env {
				s.Env[name] = fmt.Sprint(value)
			}
		}
	}
	s.URL = text("url", "httpUrl", "serverUrl", "uri")
	s.TokenEnv = text("bearer_token_env_var")
	if headers, ok := entry["headers"].(map[string]any); ok {
		value, _ := headers["Authorization"].(string)
		if m := variableName().FindStringSubmatch(value); m != nil {
			s.TokenEnv = m[1] + m[2] + m[3]
		}
	}
	return s, s.Command != "" || s.URL != ""
}

func list(v any) (texts []string) {
	all, _ := v.([]any)
	for _, v := range all {
		if s, ok := v.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// plain returns the value of a field as a parser of any format returns it.
func plain(v any) any {
	switch v := v.(type) {
	case []field:
		m := make(map[string]any)
		for _, f := range v {
			m[f.key] = plain(f.value)
		}
		return m
	case []string:
		all := make([]any, len(v))
		for i, s := range v {
			all[i] = s
		}
		return all
	case int:
		return int64(v)
	}
	return v
}

// has reports whether an entry has a field. An object may have other members too.
func has(entry map[string]any, f field) bool {
	if f.initial {
		return true
	}
	got, ok := entry[f.key]
	if want, nested := f.value.([]field); nested {
		members, isMap := got.(map[string]any)
		return isMap && !slices.ContainsFunc(want, func(f field) bool { return !has(members, f) })
	}
	return ok && reflect.DeepEqual(got, plain(f.value))
}

// obsolete returns the paths in an entry that contradict the fields: those of another way to
// reach a server, and a token for another one. Other headers belong to the user.
func obsolete(entry map[string]any, fields []field) (paths [][]string) {
	wanted := func(key string) bool {
		return slices.ContainsFunc(fields, func(f field) bool { return f.key == key })
	}
	remote := slices.ContainsFunc(remoteKeys, wanted)
	was, _ := decode(entry)
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		contradicts := slices.Contains(remoteKeys, key) || remote && slices.Contains(programKeys, key) ||
			key == "type" && remote != (was.URL != "")
		switch headers := objectAt(entry, []string{key}); {
		case !contradicts || wanted(key):
		case !remote || key != "headers" && key != "http_headers":
			paths = append(paths, []string{key})
		case headers["Authorization"] != nil && was.TokenEnv != "":
			paths = append(paths, []string{key, "Authorization"})
		}
	}
	return paths
}

// objectAt returns the object at a path in a parsed file, or nil.
func objectAt(doc map[string]any, path []string) map[string]any {
	for _, key := range path {
		doc, _ = doc[key].(map[string]any)
	}
	return doc
}

// entryOf returns the entry of this server in a parsed file.
func entryOf(doc map[string]any, servers []string) (map[string]any, bool) {
	entry, ok := objectAt(doc, servers)[EntryName].(map[string]any)
	return entry, ok
}
