package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/web"
)

func callTool(t *testing.T, d dialect.Dialect, name, owner, args string) tool.Reply {
	t.Helper()
	for _, f := range d.Tools {
		if f.Name == name {
			reply, err := f.Call(t.Context(), tool.Call{Args: json.RawMessage(args), Caller: tool.Caller{Owner: owner}})
			if err != nil {
				t.Fatal(err)
			}
			return reply
		}
	}
	t.Fatalf("there is no tool %s", name)
	return tool.Reply{}
}

func TestChat(t *testing.T) {
	t.Parallel()
	e := sequent.New(sequent.Config{})
	for _, owner := range []string{"", "alice"} {
		engine := e
		if owner != "" {
			engine = e.Owned(owner)
		}
		_, err := engine.Begin(t.Context(), sequent.ID("plan"+owner), func(c *sequent.Change) error {
			_, err := c.Append(sequent.Draft{Number: 1, Text: "Where are\nthe duplicates?"})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	d := web.InChat(dialect.Dialect{Name: "x"}, e)
	for _, c := range []struct{ tool, owner, args, want string }{
		{"show_thinking", "", `{}`, `{"sessionId":"plan","view":"read","title":"Where are","state":"active","thoughts":1}`},
		{"show_thinking", "alice", `{"view":"tree"}`, "INVALID_ARGUMENT"},
		{"show_thinking", "alice", `{"sessionId":"planalice","view":"overview"}`, `"view":"overview"`},
		{"show_thinking", "alice", `{"sessionId":"plan"}`, "SESSION_NOT_FOUND"},
		{"show_thinking", "bob", `{}`, "SESSION_NOT_FOUND: there is no session yet; record a thought first"},
		{"read_thinking", "", `{"document":"session","query":"id=plan"}`, `"text":"Where are\nthe duplicates?"`},
		{"read_thinking", "", `{"document":"session","query":"id=plan&after=x"}`, "INVALID_PARAMETER"},
		{"read_thinking", "bob", `{"document":"session","query":"id=plan"}`, "SESSION_NOT_FOUND"},
		{"read_thinking", "", `{"document":"search","query":"q=where"}`, "INVALID_ARGUMENT: the query names no session as id"},
		{"read_thinking", "", `{"document":"sessions","query":"id=plan"}`, "INVALID_ARGUMENT"},
	} {
		reply := callTool(t, d, c.tool, c.owner, c.args)
		if got := string(reply.JSON) + " " + reply.Text; !strings.Contains(got, c.want) || reply.Failed != (strings.ToUpper(c.want[:5]) == c.want[:5] && c.want[0] != '{' && c.want[0] != '"') {
			t.Errorf("%s %s as %q: %s (failed %t), want %s", c.tool, c.args, c.owner, got, reply.Failed, c.want)
		}
	}
	if again := web.InChat(d, e); len(again.Tools) != 2 || len(again.Resources) != 1 {
		t.Error("the tools are added twice")
	}
	page, err := d.Resources[0].Read(t.Context(), tool.Caller{})
	if err != nil || !strings.Contains(page, "default-src 'none'") || len(page) > 200<<10 {
		t.Errorf("the page has %d bytes, %v", len(page), err)
	}
}
