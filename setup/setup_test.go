package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// machine returns a setup with a home directory of its own. Programs are none.
func machine(t *testing.T) Setup {
	t.Helper()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	return Setup{
		System: System{
			OS: "linux", Home: home, Dir: filepath.Join(dir, "project"),
			Getenv:   func(string) string { return "" },
			LookPath: func(string) (string, error) { return "", errors.New("not found") },
			Exists:   func(path string) bool { _, err := os.Stat(path); return err == nil },
		},
		Data: filepath.Join(dir, "data"), Now: time.Now,
	}
}

var local = Server{Command: "/opt/sequent", Args: []string{"serve"}}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s Setup) must(t *testing.T) func(Change, error) Change {
	return func(c Change, err error) Change {
		t.Helper()
		if err == nil {
			c, err = s.Apply(c)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

// The entry is written where and as each client wants it, and is read back as it was given.
// A second run changes nothing, and removing it restores the file.
func TestEveryClient(t *testing.T) {
	for _, c := range Clients() {
		for _, project := range []bool{false, true} {
			for name, server := range map[string]Server{
				"program":     local,
				"environment": {Command: `C:\a "b"\sequent.exe`, Args: []string{"serve", "--store", "x y"}, Env: map[string]string{"SEQUENT_STORE": "postgres://a"}},
				"url":         {URL: "https://example.com/mcp"},
				"token":       {URL: "https://example.com/mcp", TokenEnv: "TEAM_TOKEN"},
			} {
				t.Run(fmt.Sprint(c.ID, project, name), func(t *testing.T) {
					s := machine(t)
					file := s.System.File(c, project)
					if file == "" {
						if _, err := s.Add(c, project, server); err == nil {
							t.Error("Add accepts a client without a file")
						}
						return
					}
					change, err := s.Add(c, project, server)
					if server.URL != "" && !c.Remote() || server.TokenEnv != "" && !c.Tokens() {
						if err == nil {
							t.Error("Add accepts a server that the client cannot use")
						}
						return
					}
					change = s.must(t)(change, err)
					if change.Action != Add || !change.Creates || change.Copy != "" {
						t.Errorf("got %+v", change)
					}
					got, ok, err := s.Read(c, project)
					if err != nil || !ok || !reflect.DeepEqual(got, server) {
						t.Errorf("Read = %+v, %v, %v\n%s", got, ok, err, get(t, file))
					}
					if again := s.must(t)(s.Add(c, project, server)); again.Action != Keep {
						t.Errorf("the second run does %s", again.Action)
					}
					if gone := s.must(t)(s.Remove(c, project)); gone.Action != Remove || !gone.Deletes {
						t.Errorf("Remove does %+v", gone)
					}
					var left []string
					filepath.WalkDir(filepath.Dir(s.System.Home), func(path string, d os.DirEntry, _ error) error {
						if !strings.HasPrefix(path, s.Data) && !d.IsDir() {
							left = append(left, path)
						}
						return nil
					})
					if len(left) > 0 {
						t.Errorf("left behind: %q", left)
					}
				})
			}
		}
	}
}

// texts are files that people have. Each is valid.
var texts = map[Format][]string{
	JSON: {
		"", "\n", "{}", "{ }", "{}\n", "{\n}\n", "{\n\n}", "{\r\n}\r\n", "\t{}",
		`{"a":1}`, `{ "a": 1 }`, `{"a":1,"SERVERS":{}}`, `{"SERVERS":{"x":{"command":"y"}}}`,
		"{\n  \"a\": 1\n}", "{\n\t\"a\": 1\n}\n", "{\r\n    \"a\": [1, 2]\r\n}\r\n", "\xEF\xBB\xBF{\n  \"a\": 1\n}\n",
		"{\n  \"SERVERS\": {}\n}\n", "{\n  \"SERVERS\": {\n  }\n}\n", "{\n  \"SERVERS\": null\n}\n", "{\n  \"SERVERS\": { \"x\": {} }, \"b\": 1.50\n}\n",
		"// first\n{ // open\n  // a\n  \"a\": 1, // one\n  /* b */ \"b\": [ 1, 2, ], // two\n  // end\n}\n// last",
		"{\n  \"SERVERS\": { // mine\n    // x\n    \"x\": {\"command\": \"y\"}, // why\n  },\n}\n",
		"{\n  \"SERVERS\": { /* none */ }\n}\n", "{\n  \"SERVERS\": { // none\n  }\n}\n", "{ /* a\n b */ }", "{ /* a */ \"b\": 1 }",
		"{\n\"a\": 12345678901234567890, \"a\": 1e400,\n\n\n\"b\":\"\\u00e9é\"}",
	},
	TOML: {
		"", "\n", "# only a comment", "a = 1", "a = 1\n", "a = 1\r\n", "\xEF\xBB\xBFa = 1\n", "a = 1\n\n\n",
		"[SERVERS.x]\ncommand = \"y\"", "[SERVERS.x] # x\r\ncommand = 'y'\r\n\r\n# end\r\n", "[SERVERS]\n", "SERVERS.x.command = \"y\"\n",
		"a = \"\"\"\n[SERVERS.x]\n\"\"\"\nb = [\n  1, # one\n  2,\n]\nd = 2026-01-02T03:04:05Z\n[[x]]\ny = { z = 1 }\n[[x]]\n",
	},
	YAML: {
		"", "\n", "\r", "# only a comment", "a: 1", "a: 1\n", "a: 1\r\n", "\xEF\xBB\xBFa: 1\n", "---\na: 1\n",
		"SERVERS:\n  x:\n    cmd: y\n", "SERVERS:", "SERVERS:\n", "SERVERS: ~\n", "SERVERS: null # none\nb: 1", "SERVERS: {}\n", "SERVERS: { } # none\n",
		"é: |\n  SERVERS:\n    sequent: no\nSERVERS: # mine\n    # x\n    x:\n        args:\n        - a\n\n# end\nb: &c [1]\nd: *c\n",
	},
}

// Adding the entry and removing it restores the file, its mode, and its directory.
func TestIdentity(t *testing.T) {
	for _, c := range []string{"claude-code", "codex", "goose", "opencode", "vscode"} {
		c, _ := Lookup(c)
		for _, text := range texts[c.Format] {
			text := strings.ReplaceAll(text, "SERVERS", c.Servers)
			if runtime.GOOS == "windows" && text == "" {
				continue
			}
			s := machine(t)
			file := s.System.File(c, false)
			put(t, file, text)
			change, err := s.Add(c, false, local)
			if err != nil {
				t.Errorf("%s: %q: %v", c.ID, text, err)
				continue
			}
			change = s.must(t)(change, nil)
			if change.Copy == "" || get(t, change.Copy) != text {
				t.Errorf("%q: the copy differs", text)
			}
			added := get(t, file)
			if got, ok, err := s.Read(c, false); err != nil || !ok || !reflect.DeepEqual(got, local) {
				t.Errorf("%q: Read = %+v, %v, %v of\n%s", text, got, ok, err, added)
			}
			if strings.Contains(text, "\r\n") && strings.Count(added, "\n") != strings.Count(added, "\r\n") {
				t.Errorf("%q: line endings are mixed in %q", text, added)
			}
			other := Server{URL: "https://example.com/mcp", TokenEnv: "T"}
			update, err := s.Add(c, false, other)
			if update = s.must(t)(update, err); (update.Action != Update) != (other.URL == "") {
				t.Errorf("%q: the update does %s", text, update.Action)
			}
			if got, ok, err := s.Read(c, false); err != nil || !ok || !reflect.DeepEqual(got, other) {
				t.Errorf("%q: Read = %+v, %v, %v of\n%s", text, got, ok, err, get(t, file))
			}
			s.must(t)(s.Remove(c, false))
			if got := get(t, file); got != text {
				t.Errorf("%s: after removing\n%q, want\n%q\nit was\n%s", c.ID, got, text, added)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Errorf("%q: the mode is %v, %v", text, info.Mode(), err)
			}
		}
	}
}

// An entry of a person's own is written anew, and what it says besides stays. After a change by the
// client or a person, the entry and nothing else goes.
func TestForeignEntry(t *testing.T) {
	for _, tt := range []struct {
		does                  Action
		client, before, after string
	}{
		{Remove, "claude-code", `{"a":1,"mcpServers":{"sequent":{"command":"x"}}}`, `{"a":1,"mcpServers":{}}`},
		{Remove, "goose", "extensions: # mine\n  sequent:\n    cmd: x\n", "extensions: {} # mine\n"},
		{Remove, "claude-code", `{"mcpServers":{"sequent":{"command":"x"},"y":{}}}`, `{"mcpServers":{"y":{}}}`},
		{Remove, "claude-code", `{"mcpServers":{"y":{},"sequent":{"command":"x"}}}`, `{"mcpServers":{"y":{}}}`},
		{
			Remove, "claude-code",
			"{\n  \"mcpServers\": {\n    \"y\": {}, // why\n    \"sequent\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"y\": {} // why\n    }\n}\n",
		},
		{
			Remove, "claude-code",
			"{\n  \"mcpServers\": {\n    \"y\": {},\n    \"sequent\": {}, // ours\n  },\n}\n",
			"{\n  \"mcpServers\": {\n    \"y\": {}\n  },\n}\n",
		},
		{Remove, "codex", "a = 1\n\n[mcp_servers.sequent]\n# ours\ncommand = \"x\"\n\n[mcp_servers.sequent.env]\nA = \"b\"\n\n[mcp_servers.y]\ncommand = \"y\"\n", "a = 1\n\n[mcp_servers.y]\ncommand = \"y\"\n"},
		{Remove, "goose", "extensions:\n  y:\n    cmd: y\n  sequent:\n    cmd: x\n    args:\n    - serve\n\n# end\n", "extensions:\n  y:\n    cmd: y\n\n# end\n"},
		{Remove, "goose", "extensions:\n  sequent:\n    cmd: x\n  y:\n    cmd: y\n", "extensions:\n  y:\n    cmd: y\n"},
		{
			Update, "cursor",
			"{\"mcpServers\": {\n  \"sequent\": {\n    \"type\": \"stdio\", // plain\n    \"command\": \"old\",\n    \"args\": [\"serve\"],\n    \"env\": {\"OPENAI_API_KEY\": \"k\"}\n  }\n}}\n",
			"{\"mcpServers\": {\n  \"sequent\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/sequent\",\n      \"args\": [\"serve\"],\n      \"env\": {\n        \"OPENAI_API_KEY\": \"k\"\n      }\n    }\n}}\n",
		},
		{
			Update, "codex",
			"[mcp_servers.sequent] # mine\nurl = \"http://x\"\nstartup_timeout_sec = 20 # slow\n",
			"[mcp_servers.sequent]\ncommand = '/opt/sequent'\nargs = ['serve']\nstartup_timeout_sec = 20\n",
		},
		{
			Update, "goose",
			"extensions:\n  sequent:\n    enabled: false # not now\n    cmd: old\n    type: stdio\n    name: sequent\n",
			"extensions:\n  sequent:\n    name: sequent\n    type: stdio\n    cmd: /opt/sequent\n    args:\n        - serve\n    enabled: false\n",
		},
	} {
		c, _ := Lookup(tt.client)
		s := machine(t)
		file := s.System.File(c, false)
		put(t, file, tt.before)
		change, err := s.Remove(c, false)
		if tt.does == Update {
			change, err = s.Add(c, false, local)
		}
		change = s.must(t)(change, err)
		if got := get(t, file); got != tt.after || change.Action != tt.does {
			t.Errorf("%s: %q became\n%q, want\n%q", change.Action, tt.before, got, tt.after)
		}
	}
}

// Another URL keeps the headers of a person, and does not get the token of the old one.
func TestHeaders(t *testing.T) {
	c, _ := Lookup("cursor")
	s := machine(t)
	file := s.System.File(c, false)
	s.must(t)(s.Add(c, false, Server{URL: "https://a.example.com/mcp", TokenEnv: "A"}))
	put(t, file, strings.Replace(get(t, file), `"headers": {`, `"headers": {"X-Proxy": "b",`, 1))
	s.must(t)(s.Add(c, false, Server{URL: "https://b.example.com/mcp"}))
	if got := get(t, file); strings.Contains(got, "Bearer") || !strings.Contains(got, "X-Proxy") {
		t.Errorf("got %s", got)
	}
	s.must(t)(s.Add(c, false, local))
	if got := get(t, file); strings.Contains(got, "X-Proxy") {
		t.Errorf("got %s", got)
	}
}

// A file that does not parse, or that has something else where the servers belong, is left
// alone. The error says where the mistake is.
func TestLeftAlone(t *testing.T) {
	for _, tt := range []struct{ client, text, want string }{
		{"claude-code", "{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: "},
		{"claude-code", "[]", "not a JSON object"},
		{"claude-code", "{\"mcpServers\": []}", `"mcpServers" is not an object`},
		{"claude-code", "{\"mcpServers\": 1}", `"mcpServers" is not an object`},
		{"codex", "a = 1\nb = \n", "line 2, column "},
		{"codex", "mcp_servers = { y = { command = \"y\" } }\n", "in place"},
		{"codex", "a = 1\na = 2\n", "line 2, column "},
		{"goose", "a: 1\n b: 2\n", "line 2: "},
		{"goose", "- a\n", "not a YAML mapping"},
		{"codex", "[mcp_servers]\nsequent = { command = \"x\" }\n", "in place"},
		{"codex", "a = \"\"\"\n[mcp_servers.sequent]\n\"\"\"\n", "in place"},
		{"goose", "extensions: [a]\n", "not a mapping"},
		{"goose", "extensions: {x: {cmd: y}}\n", "not a mapping"},
		{"goose", "a: 1\n---\nb: 2\n", "in place"},
		{"goose", "extensions: &s\n  x: 1\nb: *s\n", "not a mapping"},
	} {
		c, _ := Lookup(tt.client)
		s := machine(t)
		file := s.System.File(c, false)
		put(t, file, tt.text)
		_, err := s.Add(c, false, local)
		if e, ok := errors.AsType[*FileError](err); !ok || e.File != file || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %q", tt.text, err, tt.want)
		}
		if got := get(t, file); got != tt.text {
			t.Errorf("%q became %q", tt.text, got)
		}
	}
}

func TestSymbolicLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	c, _ := Lookup("cursor")
	s := machine(t)
	file, target := s.System.File(c, false), filepath.Join(s.System.Home, "dotfiles", "mcp.json")
	put(t, target, "{}")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.Symlink(target, file)); err != nil {
		t.Fatal(err)
	}
	s.must(t)(s.Add(c, false, local))
	if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(get(t, target), "/opt/sequent") {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	s.must(t)(s.Remove(c, false))
	if got := get(t, target); got != "{}" {
		t.Errorf("after removing: %q", got)
	}
	if err := os.Remove(target); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add(c, false, local); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a dangling link: got %v", err)
	}
}

// Another program writes the file between the plan and the change.
func TestConcurrentChange(t *testing.T) {
	c, _ := Lookup("claude-code")
	s := machine(t)
	file := s.System.File(c, false)
	put(t, file, `{"a":1}`)
	change, err := s.Add(c, false, local)
	put(t, file, `{"b":2}`)
	s.must(t)(change, err)
	if got := get(t, file); !strings.Contains(got, `"b":2`) || !strings.Contains(got, "/opt/sequent") {
		t.Errorf("got %s", got)
	}
	s.must(t)(s.Remove(c, false))
	if got := get(t, file); got != `{"b":2}` {
		t.Errorf("after removing: %s", got)
	}
}

// What a process that was killed has left of the file, which may have tokens, is removed with the next change.
func TestKilled(t *testing.T) {
	c, _ := Lookup("claude-code")
	s := machine(t)
	file := s.System.File(c, false)
	left := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+"-ABCDEFGHIJ.tmp")
	put(t, left, `{"token":"secret"}`)
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(left, long, long); err != nil {
		t.Fatal(err)
	}
	s.must(t)(s.Add(c, false, local))
	if names, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.tmp")); err != nil || len(names) > 0 {
		t.Errorf("there is %q, %v", names, err)
	}
}

func TestInstalled(t *testing.T) {
	s := machine(t)
	for _, c := range Clients() {
		if s.System.Installed(c) {
			t.Errorf("%s is installed in an empty home", c.ID)
		}
	}
	put(t, filepath.Join(s.System.Home, ".cursor", "x"), "")
	s.System.LookPath = func(p string) (string, error) {
		if p != "codex" {
			return "", errors.New("not found")
		}
		return "/bin/codex", nil
	}
	for _, c := range Clients() {
		if got, want := s.System.Installed(c), c.ID == "cursor" || c.ID == "codex"; got != want {
			t.Errorf("%s: installed %v, want %v", c.ID, got, want)
		}
	}
}
