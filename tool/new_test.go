package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/tool"
)

const schema = `{
  "type": "object",
  "properties": {
    "thought":           {"type": "string", "minLength": 1},
    "nextThoughtNeeded": {"type": "boolean"},
    "thoughtNumber":     {"type": "integer", "minimum": 1},
    "totalThoughts":     {"type": "integer", "minimum": 1},
    "isRevision":        {"type": "boolean"},
    "revisesThought":    {"type": "integer", "minimum": 1},
    "branchId":          {"type": "string"},
    "view":              {"type": "string", "enum": ["log", "outline"]},
    "offset":            {"type": "integer"},
    "tags":              {"type": "array", "items": {"type": "string", "minLength": 1}}
  },
  "required": ["thought", "nextThoughtNeeded"]
}`

type input struct {
	Thought  string   `json:"thought"`
	Next     bool     `json:"nextThoughtNeeded" alias:"next_thought_needed"`
	Number   *int     `json:"thoughtNumber" alias:"thought_number"`
	Total    int      `json:"totalThoughts,omitzero" alias:"total_thoughts"`
	Revision bool     `json:"isRevision,omitzero"`
	Revises  *int     `json:"revisesThought"`
	Branch   *string  `json:"branchId"`
	View     string   `json:"view,omitzero"`
	Offset   *int     `json:"offset"`
	Tags     []string `json:"tags"`
}

// decoded has the arguments as a tool got them.
type decoded struct {
	In      input
	Unknown []string
	Err     *tool.ArgumentError
}

func decode(t testing.TB, schema, args string) decoded {
	t.Helper()
	var got decoded
	tl := tool.New(tool.Spec{Name: "x", InputSchema: json.RawMessage(schema)},
		func(_ context.Context, c tool.Call, in input) (tool.Reply, error) {
			got = decoded{In: in, Unknown: c.Unknown}
			return tool.Reply{}, nil
		},
		func(err *tool.ArgumentError) (tool.Reply, error) {
			got = decoded{Err: err}
			return tool.Reply{}, nil
		})
	if _, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(args)}); err != nil {
		t.Fatalf("Call(%s): %v", args, err)
	}
	return got
}

func TestLenient(t *testing.T) {
	base := input{Thought: "a", Next: true}
	with := func(change func(*input)) input { in := base; change(&in); return in }
	number := func(n int) input { return with(func(in *input) { in.Number = new(n) }) }
	text := func(s string) input { return with(func(in *input) { in.Thought = s }) }

	tests := []struct {
		args string // inside {"thought":"a","nextThoughtNeeded":true,…}, or whole if it is no member
		want input
	}{
		{``, base},
		{`"thoughtNumber":7`, number(7)},
		{`"thoughtNumber":"7"`, number(7)},
		{`"thoughtNumber":" 7 "`, number(7)},
		{`"thoughtNumber":7.0`, number(7)},
		{`"thoughtNumber":7e0`, number(7)},
		{`"thoughtNumber":0.7e+1`, number(7)},
		{`"thoughtNumber":9007199254740991`, number(1<<53 - 1)},
		{`"thoughtNumber":null`, base},
		{`"thoughtNumber":7,"thoughtNumber":8`, number(8)},
		{`"thoughtNumber":7,"thoughtNumber":null`, base},
		{`"thought_number":7`, number(7)},
		{`"thought_number":7,"thoughtNumber":null`, number(7)},
		{`"thoughtNumber":null,"thought_number":7`, number(7)},
		{`"thought\u004eumber":7`, number(7)},
		{`"totalThoughts":"3"`, with(func(in *input) { in.Total = 3 })},
		{`"offset":-5`, with(func(in *input) { in.Offset = new(-5) })},
		{`"offset":0e999999999999`, with(func(in *input) { in.Offset = new(0) })},
		{`"isRevision":"true"`, with(func(in *input) { in.Revision = true })},
		{`"isRevision":" TRUE "`, with(func(in *input) { in.Revision = true })},
		{`"isRevision":"False"`, base},
		{`"isRevision":null`, base},
		{`"nextThoughtNeeded":"false"`, with(func(in *input) { in.Next = false })},
		{`"branchId":""`, with(func(in *input) { in.Branch = new("") })},
		{`"branchId":null`, base},
		{`"tags":[]`, with(func(in *input) { in.Tags = []string{} })},
		{`"tags":"[\"a\",\"b \\n\"]"`, with(func(in *input) { in.Tags = []string{"a", "b \n"} })},
		{`"tags":null`, base},
		{`"thought":"\u00e9\n\"\\\/\b\f\r\t"`, text("é\n\"\\/\b\f\r\t")},
		{`"thought":"\ud83d\ude00 😀"`, text("😀 😀")},
		{`  {"thought":"a","nextThoughtNeeded":true}  `, base},
		{`"{\"thought\":\"a\",\"nextThoughtNeeded\":\"True\"}"`, base},
		{`" {\"thought\":\"a\\n\",\"nextThoughtNeeded\":true} "`, text("a\n")},
	}
	for _, tt := range tests {
		args := whole(tt.args)
		got := decode(t, schema, args)
		if got.Err != nil {
			t.Errorf("%s\nrefused: %v", args, got.Err)
		} else if !reflect.DeepEqual(got.In, tt.want) {
			t.Errorf("%s\n got %s\nwant %s", args, show(got.In), show(tt.want))
		}
	}
}

// whole completes members to arguments.
func whole(s string) string {
	if t := strings.TrimSpace(s); t != "" && (t[0] != '"' || t[1] == '{' || t[1] == ' ') {
		return s
	}
	if s != "" {
		s = "," + s
	}
	return `{"thought":"a","nextThoughtNeeded":true` + s + `}`
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestRefused(t *testing.T) {
	tests := []struct{ args, want string }{
		{`"thoughtNumber":"maybe"`, `thoughtNumber is "maybe"; it must be a whole number of at least 1`},
		{`"thought_number":"maybe"`, `thoughtNumber is "maybe"; it must be a whole number of at least 1`},
		{`"thoughtNumber":true`, `thoughtNumber is true; it must be a whole number of at least 1`},
		{`"thoughtNumber":1.5`, `thoughtNumber is 1.5; it must be a whole number of at least 1`},
		{`"thoughtNumber":15e-1`, `thoughtNumber is 15e-1; it must be a whole number of at least 1`},
		{`"thoughtNumber":0`, `thoughtNumber is 0; it must be a whole number of at least 1`},
		{`"thoughtNumber":""`, `thoughtNumber is ""; it must be a whole number of at least 1`},
		{`"thoughtNumber":"0x7"`, `thoughtNumber is "0x7"; it must be a whole number of at least 1`},
		{`"thoughtNumber":[7]`, `thoughtNumber is [7]; it must be a whole number of at least 1`},
		{`"thoughtNumber":9007199254740992`, `thoughtNumber is 9007199254740992; it must be a whole number from 1 to 9007199254740991`},
		{`"offset":1e99`, `offset is 1e99; it must be a whole number from -9007199254740991 to 9007199254740991`},
		{`"offset":1e-99`, `offset is 1e-99; it must be a whole number`},
		{`"thoughtNumber":1,"thought_number":1`, `thoughtNumber is given in two spellings, also as thought_number; it must be given once`},
		{`"isRevision":1`, `isRevision is 1; it must be true or false`},
		{`"isRevision":"yes"`, `isRevision is "yes"; it must be true or false`},
		{`"branchId":7`, `branchId is 7; it must be a string`},
		{`"view":"tree"`, `view is "tree"; it must be one of "log", "outline"`},
		{`"tags":"a"`, `tags is "a"; it must be an array of strings`},
		{`"tags":["a",1]`, `tags[1] is 1; it must be a string that is not empty`},
		{`"tags":["a",""]`, `tags[1] is ""; it must be a string that is not empty`},
		{`"tags":"[\"a\",\"\\ud83e\"]"`, `tags is "[\"a\",\"\\ud83e\"]"; it must be an array of strings`},
		{`"tags":"[\"a\""`, `tags is "[\"a\""; it must be an array of strings`},
		{`"thought":""`, `thought is ""; it must be a string that is not empty`},
		{`"thought":null`, `thought is missing; it must be a string that is not empty`},
		{`"nextThoughtNeeded":null`, `nextThoughtNeeded is missing; it must be true or false`},
		{`{"nextThoughtNeeded":true}`, `thought is missing; it must be a string that is not empty`},
		{`{"Thought":"a","nextThoughtNeeded":true}`, `thought is missing; it must be a string that is not empty`},
		{`{}`, `thought is missing; it must be a string that is not empty`},
		{`null`, `thought is missing; it must be a string that is not empty`},
		// The first in the order of the schema, not of the call.
		{`{"offset":"x","thoughtNumber":"y","nextThoughtNeeded":true,"thought":"a"}`, `thoughtNumber is "y"; it must be a whole number of at least 1`},
		{`{"offset":"x","thoughtNumber":"y","thought":7}`, `thought is 7; it must be a string that is not empty`},

		{`[1]`, `the arguments are [1]; they must be a JSON object`},
		{`"{}{}"`, `the arguments are not valid JSON (invalid character '{' after top-level value); they must be a JSON object`},
		{`" {"`, `the arguments are not valid JSON (unexpected end of JSON input); they must be a JSON object`},
		{`" null"`, `the arguments are " null"; they must be a JSON object`},
		{`{"thought":"a`, `the arguments are not valid JSON (unexpected end of JSON input); they must be a JSON object`},
		{"{\"thought\":\"a\nb\"}", `the arguments are not valid JSON (invalid character '\n' in string literal); they must be a JSON object`},
		{"{\"thought\":\"\xff\"}", `the arguments are not valid UTF-8; they must be a JSON object`},
		{"{\"\xff\":1}", `the arguments are not valid UTF-8; they must be a JSON object`},
		{`{"thought":"a\ud800b"}`, `the arguments are not valid UTF-8; they must be a JSON object`},
		{`"{\"thought\":\"\\ud83e\"}"`, `the arguments are not valid UTF-8; they must be a JSON object`},
		{strings.Repeat("[", 1_000_000), `the arguments are not valid JSON (invalid character '[' exceeded max depth); they must be a JSON object`},

		// Messages are short, on one line, and print.
		{`"thoughtNumber":"` + strings.Repeat("x", 1000) + `"`, `thoughtNumber is "` + strings.Repeat("x", 59) + `…; it must be a whole number of at least 1`},
		{`"thoughtNumber":"` + strings.Repeat("😀", 1000) + `"`, `thoughtNumber is "` + strings.Repeat("😀", 59) + `…; it must be a whole number of at least 1`},
		{"\"thoughtNumber\":[\n1,\t\"\u202e\"]", `thoughtNumber is [ 1, "⟨U+202E⟩"]; it must be a whole number of at least 1`},
	}
	for _, tt := range tests {
		args := whole(tt.args)
		if tt.args == `"{}{}"` || tt.args == `" null"` {
			args = tt.args
		}
		got := decode(t, schema, args)
		if got.Err == nil {
			t.Errorf("%.200s\naccepted: %s", args, show(got.In))
		} else if got.Err.Error() != tt.want {
			t.Errorf("%.200s\n got %s\nwant %s", args, got.Err, tt.want)
		}
	}
}

func TestObject(t *testing.T) {
	for args, want := range map[string]string{
		` {"a": 1} `: `{"a": 1}`, `"{\"a\":\"b\"}"`: `{"a":"b"}`, `" {} "`: `{}`, `null`: `{}`, ``: `{}`, "\n": `{}`,
	} {
		if got, err := tool.Object(json.RawMessage(args)); string(got) != want || err != nil {
			t.Errorf("%q: got %s, %v, want %s", args, got, err, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	args := whole(`"colour":"red","next":{"a":[1,{"b":null}]},"` + strings.Repeat("é", 60) + `":1,"colour":2`)
	got := decode(t, schema, args)
	want := []string{"colour", "next", strings.Repeat("é", 40) + "…"}
	if !reflect.DeepEqual(got.Unknown, want) {
		t.Errorf("%s\n got %q\nwant %q", args, got.Unknown, want)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `,"f%d":%d`, i, i)
	}
	got = decode(t, schema, whole(many.String()[1:]))
	if len(got.Unknown) != 8 || got.Unknown[7] != "f7" {
		t.Errorf("of 1000 unknown fields got %q, want the first 8", got.Unknown)
	}
}

func TestClosedSchemaRefusesUnknown(t *testing.T) {
	closed := strings.Replace(schema, `"required"`, `"additionalProperties": false, "required"`, 1)
	got := decode(t, closed, whole(`"colour":"red"`))
	want := "colour is not an argument of this tool; it must be left out; the arguments are thought, nextThoughtNeeded, " +
		"thoughtNumber, totalThoughts, isRevision, revisesThought, branchId, view, offset, tags"
	if got.Err == nil || got.Err.Error() != want {
		t.Errorf("got %v\nwant %s", got.Err, want)
	}
}

// check calls a tool with arguments and compares what it decodes, or the refusal.
func check[In any](t *testing.T, schema string, tests [][2]string) {
	t.Helper()
	got := ""
	tl := tool.New(tool.Spec{Name: "x", InputSchema: json.RawMessage(schema)},
		func(_ context.Context, _ tool.Call, in In) (tool.Reply, error) {
			got = show(in)
			return tool.Reply{}, nil
		},
		func(err *tool.ArgumentError) (tool.Reply, error) { got = err.Error(); return tool.Reply{}, nil })
	for _, tt := range tests {
		if _, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(tt[0])}); err != nil || got != tt[1] {
			t.Errorf("%s\n got %s, %v\nwant %s", tt[0], got, err, tt[1])
		}
	}
}

func TestNullable(t *testing.T) {
	type in struct {
		From   *int    `json:"from"`
		Branch *string `json:"branch"`
	}
	check[in](t, `{"type":"object","properties":{
		"from":{"type":["integer","null"],"minimum":1},"branch":{"type":["string","null"]}},"required":["from","branch"]}`, [][2]string{
		{`{"from":null,"branch":null}`, `{"from":null,"branch":null}`},
		{`{"from":"2","branch":"b"}`, `{"from":2,"branch":"b"}`},
		{`{"branch":null}`, `from is missing; it must be a whole number of at least 1, or null`},
		{`{"from":0,"branch":null}`, `from is 0; it must be a whole number of at least 1, or null`},
	})
}

func TestNumbers(t *testing.T) {
	type in struct {
		Heat  *float64 `json:"heat"`
		Share float64  `json:"share,omitzero"`
	}
	check[in](t, `{"type":"object","properties":{"heat":{"type":"number","minimum":0,"maximum":2},"share":{"type":"number"}}}`, [][2]string{
		{`{"heat":null,"share":null}`, `{"heat":null}`},
		{`{"heat":0.7}`, `{"heat":0.7}`},
		{`{"heat":" 7e-1 "}`, `{"heat":0.7}`},
		{`{"heat":1e-999}`, `{"heat":0}`},
		{`{"share":-1.5}`, `{"heat":null,"share":-1.5}`},
		{`{"heat":2.0001}`, `heat is 2.0001; it must be a number from 0 to 2`},
		{`{"heat":true}`, `heat is true; it must be a number from 0 to 2`},
		{`{"heat":"0x1p-2"}`, `heat is "0x1p-2"; it must be a number from 0 to 2`},
		{`{"heat":"NaN"}`, `heat is "NaN"; it must be a number from 0 to 2`},
		{`{"share":"Inf"}`, `share is "Inf"; it must be a number`},
		{`{"share":1e999}`, `share is 1e999; it must be a number from -9007199254740991 to 9007199254740991`},
	})
}

func TestNamedAndEmbedded(t *testing.T) {
	type id string
	type level int
	type common struct {
		ID    *id   `json:"id"`
		Level level `json:"level,omitzero" alias:"lvl"`
	}
	type in struct {
		common
		Text string `json:"text"`
	}
	check[in](t, `{"type":"object","properties":{"id":{"type":"string"},"level":{"type":"integer"},"text":{"type":"string"}},"required":["text"]}`,
		[][2]string{{`{"text":"c","lvl":"7","id":"a"}`, `{"id":"a","level":7,"text":"c"}`}})
}

// Arrays of objects are decoded like arguments. Errors name the item.
func TestObjects(t *testing.T) {
	type item struct {
		Name  string `json:"name"`
		Count *int   `json:"count"`
	}
	type in struct {
		Items []item `json:"items"`
	}
	check[in](t, `{"type":"object","properties":{"items":{"type":"array","minItems":1,"maxItems":3,"items":{
		"type":"object","properties":{"name":{"type":"string","minLength":1},"count":{"type":"integer","minimum":1}},"required":["name"],"additionalProperties":false}}},
		"required":["items"],"additionalProperties":false}`, [][2]string{
		{`{"items":[{"name":"a"},{"name":"b","count":"2"}]}`, `{"items":[{"name":"a","count":null},{"name":"b","count":2}]}`},
		{`{"items":"[{\"name\":\"a\",\"count\":null}]"}`, `{"items":[{"name":"a","count":null}]}`},
		{`{"items":["{\"name\":\"a\"}"]}`, `{"items":[{"name":"a","count":null}]}`},
		{`{}`, `items is missing; it must be an array of 1 to 3 objects`},
		{`{"items":[]}`, `items is []; it must be an array of 1 to 3 objects`},
		{`{"items":{}}`, `items is {}; it must be an array of 1 to 3 objects`},
		{`{"items":[{"name":"a"},{"name":"a"},{"name":"a"},{"name":"a"}]}`, `items is longer than 3 items; it must be an array of 1 to 3 objects`},
		{`{"items":[{"name":"a"},{"count":1}]}`, `items[1].name is missing; it must be a string that is not empty`},
		{`{"items":[{"name":"a","count":0}]}`, `items[0].count is 0; it must be a whole number of at least 1`},
		{`{"items":[{"name":"a","size":0}]}`, `items[0].size is not an argument of this tool; it must be left out; the arguments are name, count`},
		{`{"items":[7]}`, `items[0] is 7; it must be a JSON object`},
	})
}

// What is wrong leaves its field zero, and says so beside what is right.
func TestTolerant(t *testing.T) {
	t.Parallel()
	var got []string
	tl := tool.NewTolerant(tool.Spec{Name: "x", InputSchema: json.RawMessage(schema)},
		func(_ context.Context, _ tool.Call, in input, faults []*tool.ArgumentError) (tool.Reply, error) {
			got = append(got, show(in))
			for _, err := range faults {
				got = append(got, err.Field)
			}
			return tool.Reply{}, nil
		})
	if _, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(`{"thought":"a","nextThoughtNeeded":true,"totalThoughts":-3,"view":"tree"}`)}); err != nil {
		t.Fatal(err)
	}
	if want := "[" + show(input{Thought: "a", Next: true}) + " totalThoughts view]"; fmt.Sprint(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
