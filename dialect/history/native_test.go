package history_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/dialecttest"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/tool"
)

// A native call follows the rules for all dialects.
func TestNativeRules(t *testing.T) {
	var n atomic.Int64
	dialecttest.Rules(t, dialecttest.Config{
		Build: func(_ testing.TB, env dialect.Env) dialect.Dialect {
			return history.Native(history.Config{Engine: env.Engine})
		},
		Call: func(s dialecttest.Step) string {
			args := call(s)
			id := fmt.Sprint("new-", n.Add(1))
			return strings.TrimSuffix(args, "}") + fmt.Sprintf(`,"newId":%q,"requestKey":%q,"process":"p"}`, id, id)
		},
	})
}

// A library calls the tools of Native.
type library struct {
	t *testing.T
	d dialect.Dialect
	n int
}

func newLibrary(t *testing.T, cfg history.Config) *library {
	if cfg.Engine == nil {
		cfg.Engine = sequent.New(sequent.Config{})
	}
	return &library{t: t, d: history.Native(cfg)}
}

// ask makes a call and returns the reply, or the text of the refusal.
func (l *library) ask(name, args string) string {
	l.t.Helper()
	for _, tl := range l.d.Tools {
		if tl.Name != name {
			continue
		}
		r, err := tl.Call(l.t.Context(), tool.Call{Args: json.RawMessage(args)})
		if err != nil {
			l.t.Fatal(err)
		}
		if r.Failed {
			return r.Text
		}
		return string(r.JSON)
	}
	l.t.Fatalf("there is no tool %s", name)
	return ""
}

// arguments returns the arguments of a call with a new id and key.
func (l *library) arguments(more string) string {
	l.n++
	return fmt.Sprintf(`{"thought":"t%d","thoughtNumber":1,"totalThoughts":2,"nextThoughtNeeded":true,"newId":"s%[1]d","requestKey":"k%[1]d","process":"p"%s}`, l.n, more)
}

func (l *library) want(got string, parts ...string) {
	l.t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			l.t.Errorf("got %s, want %s in it", got, p)
		}
	}
}

// A repeated call changes nothing and gets the first reply, whatever it did the first time.
func TestNativeRepeats(t *testing.T) {
	l := newLibrary(t, history.Config{})
	var replies, calls []string
	for _, more := range []string{
		``,                                      // begins s1
		`,"sessionId":"s1"`,                     // continues it
		`,"sessionId":"s99"`,                    // is unknown: begins s3
		`,"sessionId":"s3","clearSession":true`, // replaces s3 by s4
		`,"sessionId":"s5"`,                     // pinned
		`,"sessionId":"s6","clearSession":true`, // pinned and cleared
	} {
		calls = append(calls, l.arguments(more))
		replies = append(replies, l.ask("think", calls[len(calls)-1]))
	}
	l.want(replies[1], `"sessionId":"s1"`, `"thoughtHistoryLength":2`)
	l.want(replies[2], `"sessionId":"s3"`, `"thoughtHistoryLength":1`)
	l.want(replies[3], `"sessionId":"s4"`, `"thoughtHistoryLength":1`)
	l.want(l.ask("get_session", `{"sessionId":"s3"}`), `{}`)
	for i, call := range calls {
		if i == 2 {
			continue // its session is cleared
		}
		if got := l.ask("think", call); got != replies[i] {
			t.Errorf("%s repeated: got %s, want %s", call, got, replies[i])
		}
	}
	l.want(l.ask("think", strings.Replace(calls[1], `"t2"`, `"other"`, 1)), "REQUEST_KEY_REUSED: ")
	l.want(l.ask("list_sessions", `{"process":"p"}`), `{"ids":["s6","s5","s4","s1"]}`)
}

// A pinned session that is cleared keeps its id, and a call repeated after that clears
// nothing again.
func TestNativePinnedClear(t *testing.T) {
	l := newLibrary(t, history.Config{})
	pinned := func(key, more string) string {
		return fmt.Sprintf(`{"thought":%q,"thoughtNumber":1,"totalThoughts":2,"nextThoughtNeeded":true,"sessionId":"mine","newId":"mine","requestKey":%[1]q,"process":"p"%s}`, key, more)
	}
	l.ask("think", pinned("a", ""))
	clearing := pinned("b", `,"clearSession":true`)
	l.want(l.ask("think", clearing), `"sessionId":"mine"`, `[{"thoughtNumber":1,"thought":"b"}]`)
	l.want(l.ask("think", pinned("c", "")), `"thoughtHistoryLength":2`)
	l.want(l.ask("think", clearing), `[{"thoughtNumber":1,"thought":"b"}]`, `"thoughtHistoryLength":1`)
	l.want(l.ask("get_session", `{"sessionId":"mine"}`), `"thought":"c"`)
}

// get_session has the arguments as they were given.
func TestNativeGivenArguments(t *testing.T) {
	l := newLibrary(t, history.Config{})
	for _, more := range []string{
		``,
		`,"sessionId":"s1","isRevision":false,"needsMoreThoughts":false,"branchId":"","given":["branchId","needsMoreThoughts"]`,
		`,"sessionId":"s1","isRevision":true,"revisesThought":1,"needsMoreThoughts":true`,
		`,"sessionId":"s1","revisesThought":1,"branchFromThought":1,"branchId":"b"`,
	} {
		l.ask("think", l.arguments(more))
	}
	l.want(l.ask("get_session", `{"sessionId":"s1"}`),
		`"thought":"t1","totalThoughts":2,"nextThoughtNeeded":true,"timestamp"`,
		`"thought":"t2","totalThoughts":2,"nextThoughtNeeded":true,"isRevision":false,"branchId":"","needsMoreThoughts":false,`,
		`"thought":"t3","totalThoughts":2,"nextThoughtNeeded":true,"isRevision":true,"revisesThought":1,"needsMoreThoughts":true,`,
		`"thought":"t4","totalThoughts":2,"nextThoughtNeeded":true,"revisesThought":1,"branchFromThought":1,"branchId":"b",`,
		`"branches":["b"]`)
}

// Sessions of another process, another owner and another dialect are left alone.
func TestNativeClear(t *testing.T) {
	e := sequent.New(sequent.Config{})
	l := newLibrary(t, history.Config{Engine: e})
	if _, err := e.Begin(t.Context(), "theirs", func(c *sequent.Change) error {
		c.BeginIn("", "standard")
		_, err := c.Append(sequent.Draft{Number: 1, Total: 1, Text: "theirs", Final: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l.ask("think", l.arguments(""))
	}
	l.ask("think", strings.Replace(l.arguments(""), `"process":"p"`, `"process":"q"`, 1))
	l.want(l.ask("clear_session", `{"sessionId":"theirs"}`), `{"cleared":0}`)
	l.want(l.ask("get_session", `{"sessionId":"theirs"}`), `{}`)
	l.want(l.ask("clear_session", `{"sessionId":"s2"}`), `{"cleared":1}`)
	l.want(l.ask("clear_session", `{"sessionId":"s2"}`), `{"cleared":0}`)
	l.want(l.ask("clear_sessions", `{"process":"p"}`), `{"cleared":2}`)
	l.want(l.ask("list_sessions", `{"process":"p"}`), `{"ids":[]}`)
	l.want(l.ask("list_sessions", `{"process":"q"}`), `{"ids":["s4"]}`)
	if _, err := e.Session(t.Context(), "theirs"); err != nil {
		t.Error(err)
	}
}
