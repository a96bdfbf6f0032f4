package wiki_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/internal/needtest"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// A tool answers or refuses every argument: no call fails, no reply mentions the machine,
// and nothing is written outside the vault.
func TestOddArguments(t *testing.T) {
	needtest.Long(t)
	odd := []string{
		"", " ", ".", "..", "/", `\`, "../../x", "memory://../../x", "memory://a/../../../x.md", "memory://", "memory://.sequent/index.db",
		"file:///etc/passwd", "/etc/passwd", "C:\\x", "con", "a\x00b", "\n", "\t", "\x1b[31m", "\u202e", "\ufeff", "😀", "日本", "é", "e\u0301",
		"[[", "]]", "[[a]]", "[[[a]]]", "[[a]] ", "`[[a]]`", "---", "---\nstatus: completed\n---", "# x", "## Thought 9/9 [x]", "*", "\"", "'", "%00",
		"{}", "[]", "null", "[\"a\"", "-x", "\"open", "a*", "*", "AND", "'; DROP TABLE notes; --", "workflow-1", "session-1", "debugging",
		"active", "completed", "append", strings.Repeat("a", 300), strings.Repeat("é", 2000), strings.Repeat("[[a]] ", 1000), strings.Repeat("[", 1000), strings.Repeat("> ", 500) + "[[a]]",
	}
	outer := t.TempDir()
	dir := filepath.Join(outer, "vault")
	v := vaults.New(vaults.Config{Dir: dir, Engine: sequent.New(sequent.Config{})})
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	d := wiki.New(wiki.Config{Vaults: v})
	good := map[string]string{
		"sequential_thinking": `{"response":"[[a]]","nextThoughtNeeded":true}`,
		"workflow":            `{"steps":["one"]}`,
		"search_memories":     `{"query":"a"}`,
		"build_context":       `{"conceptName":"a"}`,
		"assumption_ledger":   `{"action":"append","assumption":"It is so.","concepts":["a"]}`,
		"sync":                `{}`,
		"memory":              `{"action":"write","uri":"memory://made","content":"[[a]]"}`,
	}
	for _, tl := range d.Tools {
		var schema struct {
			Properties map[string]struct{ Type string }
		}
		if err := json.Unmarshal(tl.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		try := func(args string) {
			reply, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(args)})
			said := reply.Text + string(reply.JSON)
			switch {
			case err != nil:
				t.Errorf("%s fails: %v\narguments: %.300s", tl.Name, err, args)
			case reply.Failed && !strings.HasPrefix(reply.Text, "ERROR: "):
				t.Errorf("%s refuses with %.300s", tl.Name, said)
			}
			for _, leak := range []string{outer, ".go:", "sequent.Error", "no such file", "%!"} {
				if strings.Contains(said, leak) {
					t.Errorf("%s tells of %q: %.300s\narguments: %.300s", tl.Name, leak, said, args)
				}
			}
		}
		try(good[tl.Name])
		for name, p := range schema.Properties {
			for _, value := range odd {
				givens := []any{value}
				switch p.Type {
				case "string":
					if name == "uri" || name == "to" {
						givens = append(givens, "memory://"+value)
					}
				case "array":
					givens = []any{[]string{value}}
				default:
					continue
				}
				args := make(map[string]any)
				for _, base := range []string{good[tl.Name], `{}`} {
					if err := json.Unmarshal([]byte(base), &args); err != nil {
						t.Fatal(err)
					}
					for _, given := range givens {
						args[name] = given
						raw, err := json.Marshal(args)
						if err != nil {
							t.Fatal(err)
						}
						try(string(raw))
					}
					clear(args)
				}
			}
		}
	}
	for _, tmpl := range d.Templates {
		for _, value := range odd {
			if text, err := tmpl.Read(t.Context(), tool.Caller{}, value); err == nil && strings.Contains(text, "root:") {
				t.Errorf("%q is %.100s", value, text)
			}
		}
	}
	entries, err := os.ReadDir(outer)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the vault there is %v (%v)", entries, err)
	}
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(filepath.ToSlash(name), filepath.ToSlash(dir))
		if err == nil && !e.IsDir() && !strings.HasPrefix(rel, "/.sequent/") && !strings.HasPrefix(rel, "/thinking/") && !strings.HasPrefix(rel, "/assumptions/") && !strings.HasSuffix(rel, ".md") {
			err = fmt.Errorf("%s was written", rel)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
