package command

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/llmtest"
)

// hiddenText has every kind of character that is hidden, after a letter.
var hiddenText = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteByte('a')
	for r := range rune(0xe01f0) {
		if r > 0 && printable.Hidden(r) && r != '\n' && r != '\t' && (r < 0x3000 || r%16 == 1 || r == '\u3164') {
			b.WriteRune(r)
		}
	}
	return b.String() + "b\u2028c\u2029d"
})

// hiddenName has the hidden characters that names of branches, sessions and owners may have.
func hiddenName() string {
	return "n" + strings.Map(func(r rune) rune {
		if printable.Hidden(r) && unicode.IsPrint(r) {
			return r
		}
		return -1
	}, hiddenText()) + "m"
}

// A hiding runs commands on sessions full of hidden characters, and reports those in the output.
type hiding struct {
	dir, store, input string
	env               map[string]string
}

var escapeSequences = regexp.MustCompile("\x1b\\[[0-9;]*m")

// run runs a command as in a pipe and as on a terminal with colours.
func (h *hiding) run(t *testing.T, args ...string) {
	t.Helper()
	for _, color := range []string{"never", "always"} {
		var out, stderr bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		p := &program{
			in: strings.NewReader(cmp.Or(h.input, hiddenText())), out: &out, err: &stderr, now: time.Now,
			getenv: func(name string) string { return h.env[name] },
		}
		begun := time.Now()
		code := p.main(ctx, append([]string{"--color", color}, args...))
		cancel()
		t.Logf("%+.60q exits with %d after %v: %d bytes, %d of errors", strings.Join(args, " "), code, time.Since(begun).Round(time.Millisecond), out.Len(), stderr.Len())
		if code == exitUsage && strings.Contains(stderr.String(), "--help for usage") {
			t.Errorf("%q is not understood: %s", args, stderr.String())
		}
		for name, text := range map[string]string{"stdout": out.String(), "stderr": stderr.String()} {
			checkNotHidden(t, strings.Join(args, " ")+": "+name, escapeSequences.ReplaceAllString(text, ""))
		}
	}
}

func checkNotHidden(t *testing.T, where, text string) {
	t.Helper()
	if text != printable.Text(text) || strings.ContainsAny(text, "\u2028\u2029") {
		i := strings.IndexFunc(text, func(r rune) bool {
			return printable.Hidden(r) && r != '\n' && r != '\t' || r == '\u2028' || r == '\u2029' || r == '\ufffd'
		})
		t.Errorf("%.60q has hidden characters: %+.80q", where, text[max(i-20, 0):])
	}
}

func (h *hiding) record(t *testing.T) {
	t.Helper()
	e := openStore(t, h.store).Engine
	text, name := hiddenText(), hiddenName()
	for _, owner := range []string{"", name} {
		for _, id := range []string{"s", "s" + name} {
			ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin {
				return sequent.Origin{Client: text, ClientVersion: text, Agent: text, Model: text, Project: text, GitBranch: text, Commit: text}
			})
			_, err := e.Owned(owner).Append(ctx, sequent.ID(id),
				sequent.Draft{Number: 1, Total: 3, Text: "Why " + text, Note: text},
				sequent.Draft{Number: 2, Total: 3, Text: "```\n" + text + "\n```\n    " + text, Branch: name, From: sequent.To(1)},
				sequent.Draft{Number: 2, Total: 3, Text: "No: " + text, Revision: true, Revises: sequent.To(1), Labels: map[string]string{"agent": text, name: text}},
				sequent.Draft{Number: 3, Total: 3, Text: text},
				sequent.Draft{Number: 4, Total: 4, Text: "So it is. " + text, Final: true})
			if err != nil {
				t.Fatal(err)
			}
			_, err = e.Owned(owner).Update(ctx, sequent.ID(id), func(c *sequent.Change) error {
				c.SetLabel(name, text)
				c.Conclude(text)
				return c.AddNote(sequent.Note{Seq: 3, Kind: sequent.Wrong, Text: text, From: name})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// hiddenRuns has the command lines of each command whose output has texts of others; %F is a file
// and %D a folder with hidden characters in its name, %N a name of them and %T a text.
var hiddenRuns = map[string][]string{
	"list":    {"", "--json", "--all-owners", "--owner %N", "--project %T"},
	"show":    {"s", "s --json", "s --full", "s#3", "s#3 --json", "s#%N#2", "s --view log", "s --view effective", "s --view outline", "s --view log --json", "s --view log --branch %N", "s%N", "%T", "s#%T#2", "s --owner %N", "s --owner %T", "s --compare main,%N", "s%N --compare %N", "s --compare main,%T", "s --compare main,%N --json"},
	"brief":   {"s", "s --json", "s%N", "%T"},
	"search":  {"why", "why --all-owners", "why --json", "%T", "--session s%N why", "--session %T why", "--vault %D/vault word", "--vault %D/vault --json word"},
	"analyze": {"", "--json", "--all-owners", "why", "%T"},
	"watch":   {"s --until-complete", "s --until-complete --json", "%T"},
	"note":    {"s#1 %T", "s#1 %T --from %T", "s#1 %T --json", "s#%N#2 --wrong %T", "%T x", "s#%T#2 x"},
	"export":  {"s --format md", "s --format html", "s --format mermaid", "s --format json", "s%N", "%T", "s --redact a.b", "s --redact a.b --json", "s --format %T"},
	"import":  {"%D/files", "%D/files --json", "%D/none", "-", "- --json"},
	"delete":  {"s", "s%N --yes --owner %N", "s --yes --json", "%T", "--all --owner %N"},
	"doctor":  {"", "--json"},
	"think":   {"%T --model gpt-4o", "- --model gpt-4o --json", "%T --model %T"},
	"plan":    {"%T --model gpt-4o", "%T --model gpt-4o --json"},
	"version": {"", "--json"},
	"setup":   {"--dry-run", "--dry-run --json", "--client cursor --dry-run", "--client %T --print", "--dry-run --project", "--client cursor --dry-run --store %F"},
	"remove":  {"", "--json", "--client cursor --yes", "--client %T --yes"},
	"hook":    {"%T", "post-tool-use", "session-start"},
	"view":    {"%T"},
	"demo":    {"--fast --store %F"},

	"store verify":  {"s", "s --json", "s%N", "--all", "%F", "%D/none.json", "%T"},
	"store backup":  {"%D/backup.db", "%D/backup.db --json", "%D/none/backup.db"},
	"store restore": {"%F", "%F --json", "%D/none.db"},
	"store copy":    {"--to %D/copy.db", "--to %D/copy.db --json", "--to %F"},
	"store compact": {"", "--json"},
	"think resume":  {"%T --model gpt-4o", "s --model gpt-4o"},
	"plan resume":   {"%T --model gpt-4o"},
	"vault sync":    {"--vault %D/vault", "--vault %D/vault --json"},
	"vault rebuild": {"--vault %D/vault"},

	"server owners":        {"", "--json"},
	"server owners rename": {"%N o%N", "%T x"},
	"server token new":     {"t%N --file %D/tokens", "%T --file %D/tokens", "u --file %D/tokens --note %T"},
	"server token list":    {"--file %D/tokens", "--file %D/none", "--file %F"},
	"server token revoke":  {"%T --file %D/tokens"},
}

// withoutForeign are the commands that print no text of others, or need a server: they print
// through the same functions.
var withoutForeign = []string{
	"serve", "help", "completion", "completion bash", "completion zsh", "completion fish", "completion powershell",
	"store", "server", "vault", "server token",
	"server login", "server logout", "server health", "server link", "server link list", "server link revoke", // see TestHiddenCharactersOfReplies
}

// No command prints a character that cannot be seen, or that a terminal acts upon, wherever it
// comes from: thoughts, titles, names of branches and owners, ids, files, arguments, models.
func TestHiddenCharacters(t *testing.T) {
	h := newHiding(t)
	var walk func(c *cobra.Command)
	known := make(map[string]bool)
	walk = func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), "sequent ")
		known[path] = true
		if c.HasParent() && hiddenRuns[path] == nil && !slices.Contains(withoutForeign, path) {
			t.Errorf("sequent %s is neither tried nor said to print no text of others", path)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk((&program{getenv: os.Getenv}).root())
	paths := slices.Sorted(maps.Keys(hiddenRuns))
	last := []string{"delete", "server owners rename", "store restore", "store copy"} // they change what the others read
	slices.SortStableFunc(paths, func(a, b string) int { return slices.Index(last, a) - slices.Index(last, b) })
	for _, path := range paths {
		if !known[path] {
			t.Errorf("there is no command %q", path)
			continue
		}
		for _, line := range hiddenRuns[path] {
			if h.input = ""; path == "hook" && line != "%T" {
				h.input = `{"session_id":"c","source":"compact","tool_name":"sequentialthinking","tool_response":{"sessionId":"s"}}`
			}
			h.run(t, h.args(path, line)...)
		}
	}
}

// args returns the words of a command line.
func (h *hiding) args(path, line string) []string {
	words := append(strings.Fields(path), strings.Fields(line)...)
	names := strings.NewReplacer("%F", filepath.Join(h.dir, "files", "f.json"), "%D", h.dir, "%N", hiddenName(), "%T", hiddenText())
	for i := range words {
		words[i] = names.Replace(words[i])
	}
	return words
}

// newHiding makes a store and files that are full of hidden characters.
func newHiding(t *testing.T) *hiding {
	t.Helper()
	const inFile = "d\u202e\u200b\U000e0041\u3164" // as much as a file's name may have
	h := &hiding{dir: filepath.Join(t.TempDir(), inFile)}
	h.store = filepath.Join(h.dir, inFile+".db")
	for name, text := range map[string]string{
		"files/f.json":              `{"format":"sequent-session","version":1,"session":{"id":` + hiddenJSON() + `},"log":[]}`,
		"files/" + inFile + ".json": `{"format":"sequent-session","version":1,"session":{"id":"imported","title":` + hiddenJSON() + `,"state":"active"},"log":[{"kind":"thought","thought":{"seq":1,"number":1,"total":1,"text":` + hiddenJSON() + `,"branch":` + hiddenJSON() + `}}]}`,
		"files/damaged" + inFile:    `{"format":"sequent-session",` + hiddenText(),
		".cursor/mcp.json":          `{"mcpServers":{"sequent":{"command":` + hiddenJSON() + `,"args":[` + hiddenJSON() + `]},` + hiddenJSON() + `:{"command":"x"}}}`,
		".gemini/settings.json":     `{"mcpServers":` + hiddenText(),
		".mcp.json":                 `{"mcpServers":{"sequent":{"command":"sequent","args":["serve","--store",` + hiddenJSON() + `]}}}`,
		"vault/" + "note.md":        "---\ntitle: " + hiddenText() + "\n---\n# word\n\nA word [[" + hiddenText() + "]] " + hiddenText() + "\n",
		"vault/workflows/bad.md":    "---\nworkflow: " + hiddenText() + "\n---\n",
	} {
		file := filepath.Join(h.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(name string, args any) llmtest.Reply {
		text, err := json.Marshal(args)
		if err != nil {
			t.Error(err)
		}
		return llmtest.Reply{Turn: llmtest.Turn{Text: hiddenText(), Reasoning: hiddenText(), Calls: []llm.Call{{Name: name, Args: string(text)}}}}
	}
	model := httptest.NewServer(&llmtest.Server{Answer: func(n int, _ llmtest.Request) llmtest.Reply {
		switch n % 4 {
		case 1:
			return call("think", map[string]any{"thought": hiddenText(), "nextThoughtNeeded": true})
		case 2:
			return call(hiddenText(), hiddenText())
		case 3:
			return llmtest.Reply{Turn: llmtest.Turn{Text: hiddenText()}}
		}
		return llmtest.Reply{Status: http.StatusBadRequest, Body: `{"error":{"message":` + hiddenJSON() + `}}`}
	}})
	t.Cleanup(model.Close)
	t.Chdir(h.dir)
	t.Setenv("HOME", h.dir)
	t.Setenv("XDG_DATA_HOME", h.dir)
	h.env = map[string]string{"SEQUENT_STORE": h.store, "OPENAI_BASE_URL": model.URL + "/v1", "OPENAI_API_KEY": "k", "LANG": "C.UTF-8", "USER": hiddenText(), "HOME": h.dir}
	h.record(t)
	return h
}

func hiddenJSON() string {
	text, err := json.Marshal(hiddenText())
	if err != nil {
		panic(err)
	}
	return string(text)
}

// A server of an attacker, or of another program, answers anything.
func TestHiddenCharactersOfReplies(t *testing.T) {
	text := hiddenJSON()
	bodies := []string{
		`{"error":` + text + `,"code":` + text + `,"message":` + text + `,"fix":` + text + `}`,
		`{"error":{"code":` + text + `,"message":` + text + `,"field":` + text + `,"fix":` + text + `}}`,
		`{"links":[{"id":` + text + `,"session":` + text + `,"owner":` + text + `,"token":` + text + `}],"id":` + text + `,"url":` + text + `,"path":` + text +
			`,"status":` + text + `,"version":` + text + `,"issuer":` + text + `,"clientId":` + text + `,"headers":[{"id":` + text + `,"title":` + text + `,"owner":` + text + `}],"sessions":[{"id":` + text + `}]}`,
		hiddenText(),
	}
	for _, status := range []int{http.StatusOK, http.StatusUnauthorized, http.StatusNotFound, http.StatusServiceUnavailable} {
		for _, body := range bodies {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("WWW-Authenticate", `Bearer error="`+hiddenName()+`"`)
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			}))
			dir := t.TempDir()
			t.Setenv("XDG_DATA_HOME", dir)
			h := &hiding{dir: dir, env: map[string]string{"SEQUENT_SERVER": server.URL, "SEQUENT_TOKEN": "t", "LANG": "C.UTF-8"}}
			for _, line := range []string{
				"server link s", "server link s --json", "server link list", "server link list --json", "server link list --all-owners", "server link revoke %T", "server link revoke x --json",
				"server health " + server.URL, "server health %T", "server login", "server login --server %T", "server logout", "server logout --server %T",
				"list", "list --json", "show s", "brief s", "search x", "export s --format md", "note s#1 x", "analyze",
			} {
				h.run(t, h.args("", line)...)
			}
			server.Close()
		}
	}
}

// A server can send any name: it, and the proxy before it, are no part of this program.
func TestHiddenCharactersOfAServer(t *testing.T) {
	const mark = "MARK"
	store := filepath.Join(t.TempDir(), "s.db")
	ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin { return sequent.Origin{Client: mark, Agent: mark, Model: mark} })
	e := openStore(t, store).Engine
	if _, err := e.Append(ctx, "s"+mark, sequent.Draft{Number: 1, Total: 2, Text: "Why " + mark},
		sequent.Draft{Number: 2, Total: 2, Text: mark, Branch: mark, From: sequent.To(1), Final: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(ctx, "s"+mark, func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 1, Kind: sequent.Wrong, Text: mark, From: mark})
	}); err != nil {
		t.Fatal(err)
	}
	address, stop := serveStore(t, store, app.HTTPConfig{Addr: "127.0.0.1:0"})
	defer stop()
	raw := strings.Trim(hiddenJSON(), `"`)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: address})
			r.Out.URL.RawQuery = strings.ReplaceAll(r.In.URL.RawQuery, url.QueryEscape(hiddenText()), mark)
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(r *http.Response) error {
			in, out := io.Pipe()
			body := r.Body
			r.Body, r.ContentLength = in, -1
			r.Header.Del("Content-Length")
			go func() {
				lines := bufio.NewScanner(body)
				lines.Buffer(nil, 8<<20)
				for lines.Scan() {
					fmt.Fprintln(out, strings.ReplaceAll(lines.Text(), mark, raw))
				}
				_ = out.CloseWithError(lines.Err())
				_ = body.Close()
			}()
			return nil
		},
	})
	defer proxy.Close()
	h := &hiding{env: map[string]string{"SEQUENT_SERVER": proxy.URL}}
	for _, line := range []string{
		"list", "list --json", "show", "show --json", "show --view log", "show --view effective", "show --view outline", "show s%T#1", "show s --json --view log",
		"brief", "search why", "search why --json", "analyze", "analyze --json", "export --format md", "export --format html", "export --format mermaid",
		"export --format json", "note s%T#1 --wrong %T", "note s#%T#2 %T", "watch s --until-complete",
	} {
		path, rest, _ := strings.Cut(line, " ")
		h.run(t, h.args(path, rest)...)
	}
}
