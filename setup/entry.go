package setup

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
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

// The keys that say which program to start or which URL to connect to, in any shape.
var (
	programKeys = []string{"command", "args", "cmd"}
	remoteKeys  = []string{"url", "httpUrl", "serverUrl", "uri", "headers", "http_headers", "bearer_token_env_var"}
)

// ErrNoRemote means that a client's file cannot have an entry with a URL.
var ErrNoRemote = errors.New("cannot connect to a URL from its configuration file")

// ErrNoToken means that a client's file cannot refer to a token in the environment.
var ErrNoToken = errors.New("cannot read a token from the environment")

// fields returns the members of an entry in the shape of a client that say how to reach a server,
// and those that only a new entry has: later they belong to the user. Values have the types that
// parsers return.
func (c Client) fields(s Server, project bool) (reach, first map[string]any, err error) {
	p := c.shape
	reach, first = make(map[string]any), make(map[string]any)
	set := func(fields map[string]any, name string, value any) {
		if name != "" && value != "" && value != 0 && value != false {
			fields[name] = value
		}
	}
	if p.name {
		reach["name"], first["description"] = EntryName, "Thinks step by step and records each thought."
	}
	set(first, "source", p.source)
	set(first, "enabled", p.enabled)
	set(first, "timeout", p.timeout)
	if p.tools && !project {
		first["tools"] = []any{"*"}
	}
	if s.URL != "" {
		set(reach, "type", p.remote)
		return reach, first, c.remote(s, reach)
	}
	set(reach, "type", p.kind)
	args := []any{}
	for _, arg := range s.Args {
		args = append(args, arg)
	}
	if p.joined {
		reach["command"] = append([]any{s.Command}, args...)
	} else {
		reach[cmp.Or(p.command, "command")], reach["args"] = s.Command, args
	}
	if len(s.Env) > 0 {
		env := make(map[string]any)
		for name, value := range s.Env {
			env[name] = value
		}
		reach[cmp.Or(p.env, "env")] = env
	}
	return reach, first, nil
}

// remote sets the members of an entry with a URL.
func (c Client) remote(s Server, reach map[string]any) error {
	p := c.shape
	if p.url == "" {
		return fmt.Errorf("%s %w", c.Name, ErrNoRemote)
	}
	reach[p.url] = s.URL
	switch {
	case s.TokenEnv == "":
	case p.tokenKey != "":
		reach[p.tokenKey] = s.TokenEnv
	case p.bearer != "":
		reach["headers"] = map[string]any{"Authorization": strings.ReplaceAll(p.bearer, "NAME", s.TokenEnv)}
		if p.tokenKeys != "" {
			reach[p.tokenKeys] = []any{s.TokenEnv}
		}
	default:
		return fmt.Errorf("%s %w", c.Name, ErrNoToken)
	}
	return nil
}

// updated returns an entry with the members that reach a server, and without those that contradict
// them: of another way to reach one, and a token for another one. What else the entry says stays.
func updated(entry, reach map[string]any) map[string]any {
	now := make(map[string]any)
	maps.Copy(now, entry)
	was, _ := decode(entry)
	remote := slices.ContainsFunc(remoteKeys, func(key string) bool { return reach[key] != nil })
	for key, value := range entry {
		headers, _ := value.(map[string]any)
		switch {
		case remote && (key == "headers" || key == "http_headers"): // others than the token belong to the user
			if was.TokenEnv == "" || headers["Authorization"] == nil {
				continue
			}
			headers = maps.Clone(headers)
			delete(headers, "Authorization")
			if now[key] = headers; len(headers) == 0 {
				delete(now, key)
			}
		case slices.Contains(remoteKeys, key), remote && slices.Contains(programKeys, key), key == "type" && remote != (was.URL != ""):
			delete(now, key)
		}
	}
	for key, value := range reach {
		members, nested := value.(map[string]any)
		if old, ok := now[key].(map[string]any); ok && nested {
			value = maps.Clone(old)
			maps.Copy(value.(map[string]any), members)
		}
		now[key] = value
	}
	return now
}

// variableName matches the reference to a variable in the header of a bearer token.
var variableName = lazyregexp.New(`^Bearer (?:\$\{(?:env:)?(\w+)\}|\$(\w+)|\{env:(\w+)\})$`)

// decode returns what an entry says, in the shape of any client. It reports false if the
// entry names neither a program nor a URL.
func decode(entry map[string]any) (s Server, ok bool) {
	texts := func(keys ...string) (all []string) {
		for _, key := range keys {
			switch value := entry[key].(type) {
			case string:
				all = append(all, value)
			case []any:
				for _, v := range value {
					if text, ok := v.(string); ok {
						all = append(all, text)
					}
				}
			}
		}
		return all
	}
	if all := texts("command", "cmd", "args"); len(all) > 0 && len(texts("command", "cmd")) > 0 {
		s.Command, s.Args = all[0], append(s.Args, all[1:]...)
	}
	for _, key := range []string{"env", "environment", "envs"} {
		if env, ok := entry[key].(map[string]any); ok && len(env) > 0 {
			s.Env = make(map[string]string)
			for name, value := range env {
				s.Env[name] = fmt.Sprint(value)
			}
		}
	}
	if urls := texts("url", "httpUrl", "serverUrl", "uri"); len(urls) > 0 {
		s.URL = urls[0]
	}
	s.TokenEnv = strings.Join(texts("bearer_token_env_var"), "")
	if headers, ok := entry["headers"].(map[string]any); ok {
		value, _ := headers["Authorization"].(string)
		if m := variableName().FindStringSubmatch(value); m != nil {
			s.TokenEnv = m[1] + m[2] + m[3]
		}
	}
	return s, s.Command != "" || s.URL != ""
}
