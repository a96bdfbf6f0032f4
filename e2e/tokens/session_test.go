package tokens

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// serverTimeout is generous, for busy machines.
const serverTimeout = 2 * time.Minute

// node returns the path of Node.js if the packages of e2e are installed.
func node(t *testing.T) string {
	t.Helper()
	const get = "install Node.js 20 or newer and run: make npm"
	path := needtest.Program(t, "node", get)
	for _, name := range []string{"gpt-tokenizer", "@modelcontextprotocol/server-sequential-thinking"} {
		if _, err := os.Stat(filepath.Join("..", "node_modules", filepath.FromSlash(name))); err != nil {
			needtest.Missing(t, "the npm package "+name+" is not installed", get)
		}
	}
	return path
}

// A conversation is a client of a server on standard input and output.
type conversation struct {
	t      *testing.T
	server *programtest.Process
	next   int
}

// converse starts a server and closes it at the end of the test.
func converse(t *testing.T, name string, args ...string) *conversation {
	t.Helper()
	c := &conversation{t: t, server: programtest.Start(t, serverTimeout, name, args...)}
	t.Cleanup(func() { c.server.Close(t) })
	c.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tokens","version":"1"}}`)
	c.server.Send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

// ask sends a request and returns its result.
func (c *conversation) ask(method, params string) json.RawMessage {
	c.t.Helper()
	c.next++
	line := c.server.Ask(c.t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params))
	var reply struct {
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &reply); err != nil || reply.Error != nil {
		c.t.Fatalf("%s %s: got %s (%v)", method, params, line, err)
	}
	return reply.Result
}

// call calls a tool and returns the text of the result.
func (c *conversation) call(tool, args string) string {
	c.t.Helper()
	raw := c.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	var result struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(raw, &result); err != nil || result.IsError || len(result.Content) != 1 {
		c.t.Fatalf("%s %s: got %s", tool, args, raw)
	}
	return result.Content[0].Text
}

// definitions returns the tools in the JSON of tools/list.
func (c *conversation) definitions() string {
	c.t.Helper()
	var result struct{ Tools json.RawMessage }
	if err := json.Unmarshal(c.ask("tools/list", "{}"), &result); err != nil {
		c.t.Fatal(err)
	}
	return string(result.Tools)
}

// thought returns a typical thought of one or two sentences for step n.
func thought(n int) string {
	list := []string{
		"Checkout times out for one order in two hundred, only at busy hours. What is different then?",
		"The slowest span of a failing trace is the payment query, 29 of its 30 seconds. It may wait for a lock.",
		"Lock waits are below two milliseconds all day, so the query waits for something before it runs.",
		"The pool has ten connections; at noon it hands out the tenth and callers queue behind it.",
		"A transaction holds its connection while it asks the fraud service, which takes a second at noon.",
		"Two ways out: enlarge the pool, or ask the fraud service before the transaction begins.",
		"Forty connections a replica are more than the database allows in total, so enlarging moves the queue.",
		"Asking first keeps a connection for 20 ms instead of a second; ten are then enough for five times the load.",
	}
	return fmt.Sprintf("Step %d. %s", n, list[(n-1)%len(list)])
}

// linked returns the thought with WikiLinks.
func linked(n int) string {
	return strings.NewReplacer("Checkout", "[[checkout]]", "payment query", "[[payment query]]", "Lock waits", "[[lock wait|Lock waits]]",
		"The pool", "The [[connection pool]]", "fraud service", "[[fraud service]]", "the pool", "the [[connection pool]]",
		"Forty connections", "Forty [[connection pool|connections]]", "Asking first", "Asking the [[fraud service]] first").Replace(thought(n))
}

// conclusion is a typical conclusion.
const conclusion = "The [[fraud service]] inside the transaction starves the [[connection pool]]; ask it first. " +
	"✅ Read-only, as instructed. No shortcuts. Risk: a fraud answer may be stale by a second. Sources: [[checkout]] traces of noon."

// A contender is a server with the arguments of a model that follows its
// descriptions and adds nothing.
type contender struct {
	name string
	args func(session string, n, total int) any
}

// Arguments, in the order of the schemas.
type (
	plainArgs struct {
		Thought string `json:"thought"`
		More    bool   `json:"nextThoughtNeeded"`
		Number  int    `json:"thoughtNumber"`
		Total   int    `json:"totalThoughts"`
		Session string `json:"sessionId,omitempty"`
	}
	standardArgs struct {
		Thought string `json:"thought"`
		More    bool   `json:"nextThoughtNeeded"`
		Session string `json:"sessionId,omitempty"`
	}
	statusArgs struct {
		Thought string `json:"thought"`
		Number  int    `json:"thought_number"`
		Total   int    `json:"total_thoughts"`
		More    bool   `json:"next_thought_needed"`
	}
	wikiArgs struct {
		Response   string `json:"response"`
		More       bool   `json:"nextThoughtNeeded"`
		Number     int    `json:"thoughtNumber"`
		Total      int    `json:"totalThoughts"`
		Session    string `json:"sessionId,omitempty"`
		Conclusion string `json:"conclusion,omitempty"`
	}
	guidedArgs struct {
		plainArgs
		Revision   bool    `json:"isRevision"`
		From       *int    `json:"branchFromThought"`
		Branch     *string `json:"branchId"`
		MoreNeeded bool    `json:"needsMoreThoughts"`
	}
)

func contenders() []contender {
	plain := func(_ string, n, total int) any {
		return plainArgs{Thought: thought(n), More: n < total, Number: n, Total: total}
	}
	return []contender{
		{"reference", plain},
		{"standard", func(session string, n, total int) any {
			return standardArgs{Thought: thought(n), More: n < total, Session: session}
		}},
		{"classic", plain},
		{"guided", func(_ string, n, total int) any {
			return guidedArgs{plainArgs: plainArgs{Thought: thought(n), More: n < total, Number: n, Total: total}}
		}},
		{"history", func(session string, n, total int) any {
			return plainArgs{Thought: thought(n), More: n < total, Number: n, Total: total, Session: session}
		}},
		{"status", func(_ string, n, total int) any {
			return statusArgs{Thought: thought(n), Number: n, Total: total, More: n < total}
		}},
		{"wiki", func(session string, n, total int) any {
			args := wikiArgs{Response: linked(n), More: n < total, Number: n - 1, Total: total - 1, Session: session}
			if !args.More {
				args.Conclusion = conclusion
			}
			return args
		}},
	}
}

// exampleIDs replace session ids before counting, because the tokens of an id vary.
var exampleIDs = map[string]string{
	"standard": "7k3m9q2xw4ht",
	"classic":  "session-20260731-141503",
	"history":  "01981f3c-5b7e-7d42-9a06-c3f1e28b74d5",
	"wiki":     "session-1785507303000-48291",
}

var sessionID = regexp.MustCompile(`(?:"sessionId": ?"|Created session: )([^"\n]+)`)

// session records n thoughts. It returns the session's id, the arguments that the
// model wrote and the replies that it read.
func (c *conversation) session(of contender, n int) (id string, wrote, read []string) {
	c.t.Helper()
	example := func(s string) string {
		if id == "" || exampleIDs[of.name] == "" {
			return s
		}
		return strings.ReplaceAll(s, id, exampleIDs[of.name])
	}
	for i := range n {
		args, err := json.Marshal(of.args(id, i+1, n))
		if err != nil {
			c.t.Fatal(err)
		}
		tool := "sequentialthinking"
		if of.name == "status" || of.name == "wiki" {
			tool = "sequential_thinking"
		}
		text := c.call(tool, string(args))
		if m := sessionID.FindStringSubmatch(text); m != nil {
			id = m[1]
		}
		wrote, read = append(wrote, example(string(args))), append(read, example(text))
	}
	return id, wrote, read
}
