package dialecttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/tool"
)

// An answer is the outcome of a call, in any form that a dialect may use.
type answer struct {
	words   string // everything that the caller reads
	refused bool
	fault   error // an error that is neither a reply nor a refusal
}

// try makes a call. It fails the test if a refusal changes anything or shows internal
// details.
func (w *world) try(t testing.TB, name, args string, scope string) answer {
	t.Helper()
	reply, err := w.call(t.Context(), t, name, args, tool.Caller{Scope: tool.Scope{Name: scope}})
	a := answerOf(reply, err)
	if !a.refused && a.fault == nil {
		return a
	}
	for _, leak := range []string{".go:", "goroutine", "runtime error", "*sequent.", "sequent.Error", "json:", "<nil>", "%!", secret} {
		if strings.Contains(a.words, leak) {
			t.Errorf("a refusal tells a client of %q: %.300s\ncall: %.300s", leak, a.words, args)
		}
	}
	return a
}

// do makes a call of the first tool, beside which others are made.
func (w *world) do(t testing.TB, args, scope string) answer {
	t.Helper()
	return answerOf(w.tool(t, "").Call(t.Context(), tool.Call{
		Args: json.RawMessage(args), Caller: tool.Caller{Scope: tool.Scope{Name: scope}},
	}))
}

func answerOf(reply tool.Reply, err error) answer {
	if p, ok := errors.AsType[*tool.ProtocolError](err); ok {
		return answer{words: fmt.Sprintf("%d %s %s", p.Code, p.Message, p.Data), refused: true}
	}
	return answer{words: reply.Text + string(reply.JSON), refused: reply.Failed, fault: err}
}

// accept makes a call that must be accepted.
func (w *world) accept(t testing.TB, args, scope string) answer {
	t.Helper()
	a := w.try(t, "", args, scope)
	if a.refused || a.fault != nil {
		t.Fatalf("the call was refused: %.500s %v\ncall: %.500s", a.words, a.fault, args)
	}
	return a
}

// refuse makes a call that must be refused.
func (w *world) refuse(t testing.TB, args, scope string) answer {
	t.Helper()
	a := w.try(t, "", args, scope)
	switch {
	case a.fault != nil:
		t.Errorf("the call failed instead of being refused: %v\ncall: %.500s", a.fault, args)
	case !a.refused:
		t.Errorf("the call was accepted: %.500s\ncall: %.500s", a.words, args)
	}
	return a
}

// one returns the only session of the store.
func (w *world) one(t testing.TB) *sequent.Session {
	t.Helper()
	page, err := w.engine.Sessions(t.Context(), sequent.Query{})
	if err != nil || len(page.Headers) != 1 {
		t.Fatalf("the store has %d sessions (%v), want 1", len(page.Headers), err)
	}
	s, err := w.engine.Session(t.Context(), page.Headers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// members returns the members of a JSON object.
func members(t testing.TB, object string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatalf("not a JSON object: %v\n%s", err, object)
	}
	return m
}

// with returns the object with one member changed.
func with(t testing.TB, object, name, value string) string {
	t.Helper()
	m := members(t, object)
	m[name] = json.RawMessage(value)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// checkLoose calls with arguments in the forms that models write.
func checkLoose(t *testing.T, cfg Config) {
	base := cfg.Call(Step{Number: 1, Total: 3, Text: "a"})
	w := newWorld(t, cfg, sequent.NewMemoryStore())
	want := w.accept(t, base, "test").words

	var schema struct {
		Properties map[string]struct {
			Type    json.RawMessage `json:"type"`
			Minimum *int            `json:"minimum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(w.dialect.Tools[0].InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	given := members(t, base)
	same := func(args string) {
		t.Helper()
		w := newWorld(t, cfg, sequent.NewMemoryStore())
		if got := w.accept(t, args, "test").words; got != want {
			t.Errorf("call %s\ngot  %s\nwant %s, as for\n%s", args, got, want, base)
		}
	}
	refused := func(name, value string) {
		t.Helper()
		w := newWorld(t, cfg, sequent.NewMemoryStore())
		args := with(t, base, name, value)
		if a := w.refuse(t, args, "test"); !strings.Contains(a.words, name) {
			t.Errorf("the refusal does not name %s: %s\ncall: %s", name, a.words, args)
		}
		if got := w.accept(t, base, "test").words; got != want {
			t.Errorf("after a refusal of %s = %s\ngot  %s\nwant %s", name, value, got, want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		raw, there := given[name]
		if !there {
			same(with(t, base, name, "null"))
		}
		switch {
		case strings.Contains(string(p.Type), "integer"):
			if there && string(raw) != "null" {
				for _, form := range []string{`"%s"`, `" %s "`, `%s.0`, `"%s.0"`, `%se0`} {
					same(with(t, base, name, fmt.Sprintf(form, raw)))
				}
			}
			for _, v := range []string{`true`, `1.5`, `"1.5"`, `"maybe"`, `""`, `[]`, `{}`, `9007199254740992`} {
				refused(name, v)
			}
			if p.Minimum != nil && *p.Minimum > 0 {
				refused(name, `0`)
				refused(name, `"-1"`)
			}
		case strings.Contains(string(p.Type), "boolean"):
			if there && string(raw) != "null" {
				title := strings.ToUpper(string(raw[:1])) + string(raw[1:])
				for _, form := range []string{string(raw), title, strings.ToUpper(string(raw))} {
					same(with(t, base, name, `"`+form+`"`))
				}
			}
			for _, v := range []string{`"maybe"`, `0`, `1`, `""`, `[]`, `"yes"`} {
				refused(name, v)
			}
		case strings.Contains(string(p.Type), "string"):
			for _, v := range []string{`7`, `true`, `[]`, `{}`} {
				refused(name, v)
			}
		}
	}
}

// odd has names and texts that have broken other programs.
var odd = []string{
	"__proto__", "constructor", "prototype", "hasOwnProperty", "toString",
	".", "..", "/", "../../etc/passwd", `C:\con`, "con", "a/b", "a\\b", "-", "--help", "$ID", "%s%n%d", "%2e%2e",
	"\x00", "a\x00b", "\u200f", "a\u202eb", "\ufeff", "\u2028", "\n", "a\nb", "\r\n", "\t", "\x1b[31m", "\x7f",
	"😀", "👩‍👩‍👧‍👦", "𝕏", "日本語", "שלום", "é", "e\u0301", " ", "  a  ", "\"", "'", "`", "<script>", "{}", "[[a]]", "null", "0",
	"'; DROP TABLE thoughts; --", "\ufffd",
}

// checkOdd uses each of them as a text, a branch and a session. Each must be stored
// unchanged, or refused without a change.
func checkOdd(t *testing.T, cfg Config) {
	for _, name := range odd {
		w := newWorld(t, cfg, sequent.NewMemoryStore())
		call := cfg.Call(Step{Number: 1, Total: 9, Text: name})
		if a := w.try(t, "", call, "test"); a.fault != nil {
			t.Errorf("text %q: %v", name, a.fault)
		} else if !a.refused {
			if th, ok := w.one(t).Last(); !ok || !strings.Contains(th.Text, name) {
				t.Errorf("text %q was stored as %q", name, th.Text)
			}
		}

		if cfg.branches() {
			w = newWorld(t, cfg, sequent.NewMemoryStore())
			w.accept(t, cfg.Call(Step{Number: 1, Total: 9, Text: "a"}), "test")
			id := string(w.one(t).ID())
			call = cfg.Call(Step{Number: 2, Total: 9, Text: "b", Session: id, Branch: name, From: 1})
			if a := w.try(t, "", call, "test"); a.fault != nil {
				t.Errorf("branch %q: %v", name, a.fault)
			} else if s := w.one(t); !a.refused && !slices.Equal(s.Branches(), []string{name}) {
				t.Errorf("branch %q was stored as %q", name, s.Branches())
			}
			w.accept(t, cfg.Call(Step{Number: 3, Total: 9, Text: "c", Session: id}), "test")
		}

		w = newWorld(t, cfg, sequent.NewMemoryStore())
		call = cfg.Call(Step{Number: 1, Total: 9, Text: "a", Session: name})
		if a := w.try(t, "", call, "test"); a.fault != nil {
			t.Errorf("session %q: %v", name, a.fault)
		}
	}

	w := newWorld(t, cfg, sequent.NewMemoryStore())
	call := cfg.Call(Step{Number: 1, Total: 9, Text: "MARK"})
	for _, bad := range []string{"\xff", "\xc3", "\xed\xa0\x80", "\x00", "\n"} {
		w.refuse(t, strings.ReplaceAll(call, "MARK", bad), "test")
	}
	for _, bad := range []string{`[]`, `7`, `"x"`, `{`, `{"a":}`, `{} {}`, `nul`, "\xff", `{}`, `null`, ``, call + "x"} {
		w.refuse(t, bad, "test")
	}
}

// checkLimits calls with values at the limits and above them.
func checkLimits(t *testing.T, cfg Config) {
	w := newWorld(t, cfg, sequent.NewMemoryStore())
	limits := w.engine.Limits()
	text, name := limits.Text, limits.Name
	// A dialect may add to the text.
	w.accept(t, cfg.Call(Step{Number: 1, Total: 9, Text: strings.Repeat("a", text-100)}), "test")
	id := string(w.one(t).ID())
	w.refuse(t, cfg.Call(Step{Number: 2, Total: 9, Text: strings.Repeat("a", text+1), Session: id}), "test")
	w.refuse(t, cfg.Call(Step{Number: 2, Total: 9, Text: strings.Repeat("é", text/2+1), Session: id}), "test")
	if cfg.branches() {
		long := strings.Repeat("é", name)
		w.accept(t, cfg.Call(Step{Number: 2, Total: 9, Text: "b", Session: id, Branch: long, From: 1}), "test")
		w.refuse(t, cfg.Call(Step{Number: 3, Total: 9, Text: "c", Session: id, Branch: long + "é", From: 1}), "test")
	}

	small := cfg
	small.limits = sequent.Limits{Thoughts: 6, Branches: 2}
	w = newWorld(t, small, sequent.NewMemoryStore())
	w.accept(t, cfg.Call(Step{Number: 1, Total: 9, Text: "a"}), "test")
	id = string(w.one(t).ID())
	if cfg.branches() {
		for n, branch := range []string{"x", "y"} {
			w.accept(t, cfg.Call(Step{Number: n + 2, Total: 9, Text: branch, Session: id, Branch: branch, From: 1}), "test")
		}
		w.refuse(t, cfg.Call(Step{Number: 2, Total: 9, Text: "z", Session: id, Branch: "z", From: 1}), "test")
	}
	for n := w.one(t).Len(); n < small.limits.Thoughts; n++ {
		w.accept(t, cfg.Call(Step{Number: n + 1, Total: 9, Text: fmt.Sprint(n), Session: id}), "test")
	}
	w.refuse(t, cfg.Call(Step{Number: 5, Total: 9, Text: "d", Session: id}), "test")
}

// branches reports whether the tool has branches.
func (cfg Config) branches() bool {
	with, without := Step{Number: 2, Total: 9, Text: "a", Branch: "x", From: 1}, Step{Number: 2, Total: 9, Text: "a"}
	return cfg.Call(with) != cfg.Call(without)
}
