package tool_test

import (
	"context"
	"encoding/json"
	"errors"
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
		{`"thoughtNumber":"\u0037"`, number(7)},
		{`"thoughtNumber":7.0`, number(7)},
		{`"thoughtNumber":"7.00"`, number(7)},
		{`"thoughtNumber":7e0`, number(7)},
		{`"thoughtNumber":70E-1`, number(7)},
		{`"thoughtNumber":0.7e+1`, number(7)},
		{`"thoughtNumber":9007199254740991`, number(1<<53 - 1)},
		{`"thoughtNumber":9.007199254740991e15`, number(1<<53 - 1)},
		{`"thoughtNumber":null`, base},
		{`"thoughtNumber":7,"thoughtNumber":8`, number(8)},
		{`"thoughtNumber":7,"thoughtNumber":null`, base},
		{`"thought_number":7`, number(7)},
		{`"thought_number":7,"thoughtNumber":null`, number(7)},
		{`"thought_number":null,"thoughtNumber":7`, number(7)},
		{`"thoughtNumber":null,"thought_number":7`, number(7)},
		{`"thoughtNumber":7,"thought_number":null`, number(7)},
		{`"thought\u004eumber":7`, number(7)},
		{`"totalThoughts":"3"`, with(func(in *input) { in.Total = 3 })},
		{`"offset":-5`, with(func(in *input) { in.Offset = new(-5) })},
		{`"offset":-0`, with(func(in *input) { in.Offset = new(0) })},
		{`"offset":0e999999999999`, with(func(in *input) { in.Offset = new(0) })},
		{`"offset":0.000e-999999999999`, with(func(in *input) { in.Offset = new(0) })},
		{`"isRevision":true`, with(func(in *input) { in.Revision = true })},
		{`"isRevision":"true"`, with(func(in *input) { in.Revision = true })},
		{`"isRevision":" TRUE "`, with(func(in *input) { in.Revision = true })},
		{`"isRevision":"False"`, base},
		{`"isRevision":null`, base},
		{`"nextThoughtNeeded":"false"`, with(func(in *input) { in.Next = false })},
		{`"branchId":""`, with(func(in *input) { in.Branch = new("") })},
		{`"branchId":null`, base},
		{`"branchId":"__proto__"`, with(func(in *input) { in.Branch = new("__proto__") })},
		{`"view":"outline"`, with(func(in *input) { in.View = "outline" })},
		{`"tags":[]`, with(func(in *input) { in.Tags = []string{} })},
		{`"tags": [ "a" , "\n" ] `, with(func(in *input) { in.Tags = []string{"a", "\n"} })},
		{`"tags":"[\"a\",\"b \\n\"]"`, with(func(in *input) { in.Tags = []string{"a", "b \n"} })},
		{`"tags":null`, base},
		{`"thought":"\u00e9\n\"\\\/\b\f\r\t"`, text("é\n\"\\/\b\f\r\t")},
		{`"thought":"\ud83d\ude00 😀"`, text("😀 😀")},
		{`"thought":"\u0000"`, text("\x00")},
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
		{`"thoughtNumber":15e-1`, `thoughtNumber is 15e-1; it must be a whole number from 1 to 9007199254740991`},
		{`"thoughtNumber":0`, `thoughtNumber is 0; it must be a whole number of at least 1`},
		{`"thoughtNumber":-3`, `thoughtNumber is -3; it must be a whole number of at least 1`},
		{`"thoughtNumber":""`, `thoughtNumber is ""; it must be a whole number of at least 1`},
		{`"thoughtNumber":"07"`, `thoughtNumber is "07"; it must be a whole number of at least 1`},
		{`"thoughtNumber":"+7"`, `thoughtNumber is "+7"; it must be a whole number of at least 1`},
		{`"thoughtNumber":"0x7"`, `thoughtNumber is "0x7"; it must be a whole number of at least 1`},
		{`"thoughtNumber":"7 of 9"`, `thoughtNumber is "7 of 9"; it must be a whole number of at least 1`},
		{`"thoughtNumber":[7]`, `thoughtNumber is [7]; it must be a whole number of at least 1`},
		{`"thoughtNumber":{"n":7}`, `thoughtNumber is {"n":7}; it must be a whole number of at least 1`},
		{`"thoughtNumber":9007199254740992`, `thoughtNumber is 9007199254740992; it must be a whole number from 1 to 9007199254740991`},
		{`"thoughtNumber":1e999999999999999999`, `thoughtNumber is 1e999999999999999999; it must be a whole number from 1 to 9007199254740991`},
		{`"offset":1e99`, `offset is 1e99; it must be a whole number from -9007199254740991 to 9007199254740991`},
		{`"offset":1e-99`, `offset is 1e-99; it must be a whole number from -9007199254740991 to 9007199254740991`},
		{`"thoughtNumber":1,"thought_number":1`, `thoughtNumber is given in two spellings, also as thought_number; it must be given once`},
		{`"isRevision":1`, `isRevision is 1; it must be true or false`},
		{`"isRevision":0`, `isRevision is 0; it must be true or false`},
		{`"isRevision":"maybe"`, `isRevision is "maybe"; it must be true or false`},
		{`"isRevision":"yes"`, `isRevision is "yes"; it must be true or false`},
		{`"isRevision":""`, `isRevision is ""; it must be true or false`},
		{`"isRevision":[]`, `isRevision is []; it must be true or false`},
		{`"branchId":7`, `branchId is 7; it must be a string`},
		{`"branchId":false`, `branchId is false; it must be a string`},
		{`"branchId":{}`, `branchId is {}; it must be a string`},
		{`"view":"tree"`, `view is "tree"; it must be one of "log", "outline"`},
		{`"view":""`, `view is ""; it must be one of "log", "outline"`},
		{`"tags":"a"`, `tags is "a"; it must be an array of strings, each that is not empty`},
		{`"tags":["a",1]`, `tags is ["a",1]; it must be an array of strings, each that is not empty`},
		{`"tags":["a",""]`, `tags is ["a",""]; it must be an array of strings, each that is not empty`},
		{`"tags":"[\"a\",\"\\ud83e\"]"`, `tags is "[\"a\",\"\\ud83e\"]"; it must be an array of strings, each that is not empty`},
		{`"tags":"[\"a\""`, `tags is "[\"a\""; it must be an array of strings, each that is not empty`},
		{`"thought":""`, `thought is ""; it must be a string that is not empty`},
		{`"thought":null`, `thought is missing; it must be a string that is not empty`},
		{`"nextThoughtNeeded":null`, `nextThoughtNeeded is missing; it must be true or false`},
		{`{"nextThoughtNeeded":true}`, `thought is missing; it must be a string that is not empty`},
		{`{"Thought":"a","nextThoughtNeeded":true}`, `thought is missing; it must be a string that is not empty`},
		{`{}`, `thought is missing; it must be a string that is not empty`},
		{`null`, `thought is missing; it must be a string that is not empty`},
		{` `, `thought is missing; it must be a string that is not empty`},
		// The first in the order of the schema, not of the call.
		{`{"offset":"x","thoughtNumber":"y","nextThoughtNeeded":true,"thought":"a"}`, `thoughtNumber is "y"; it must be a whole number of at least 1`},
		{`{"offset":"x","thoughtNumber":"y","thought":7}`, `thought is 7; it must be a string that is not empty`},

		{`[1]`, `the arguments are [1]; they must be a JSON object`},
		{`7`, `the arguments are 7; they must be a JSON object`},
		{`true`, `the arguments are true; they must be a JSON object`},
		{`"{}{}"`, `the arguments are not valid JSON (unexpected '{' at byte 2); they must be a JSON object`},
		{`" null"`, `the arguments are " null"; they must be a JSON object`},
		{`nul`, `the arguments are not valid JSON (it ends too early, after 3 bytes); they must be a JSON object`},
		{`{"thought":"a"`, `the arguments are not valid JSON (it ends too early, after 14 bytes); they must be a JSON object`},
		{`{"thought":"a`, `the arguments are not valid JSON (it ends too early, after 13 bytes); they must be a JSON object`},
		{`{"thought":"a"} x`, `the arguments are not valid JSON (unexpected 'x' at byte 16); they must be a JSON object`},
		{`{"thought":"a",}`, `the arguments are not valid JSON (unexpected '}' at byte 15); they must be a JSON object`},
		{`{,"thought":"a"}`, `the arguments are not valid JSON (unexpected ',' at byte 1); they must be a JSON object`},
		{`{"thought" "a"}`, `the arguments are not valid JSON (unexpected '"' at byte 11); they must be a JSON object`},
		{`{"a":01}`, `the arguments are not valid JSON (unexpected '1' at byte 6); they must be a JSON object`},
		{`{"a":1.}`, `the arguments are not valid JSON (unexpected '1' at byte 5); they must be a JSON object`},
		{`{"a":NaN}`, `the arguments are not valid JSON (unexpected 'N' at byte 5); they must be a JSON object`},
		{`{"a":[1,]}`, `the arguments are not valid JSON (unexpected ']' at byte 8); they must be a JSON object`},
		{`{"a":{"b":1]}`, `the arguments are not valid JSON (unexpected ']' at byte 11); they must be a JSON object`},
		{`{"thought":"\x41"}`, `the arguments are not valid JSON (bad escape in a string at byte 12); they must be a JSON object`},
		{`{"thought":"\u00g1"}`, `the arguments are not valid JSON (bad escape in a string at byte 12); they must be a JSON object`},
		{`{"thought":"\`, `the arguments are not valid JSON (bad escape in a string at byte 12); they must be a JSON object`},
		{"{\"thought\":\"a\nb\"}", `the arguments are not valid JSON (unexpected '\n' at byte 13); they must be a JSON object`},
		{"{\"thought\":\"\xff\"}", `the arguments are not valid UTF-8; they must be a JSON object`},
		{"{\"\xff\":1}", `the arguments are not valid UTF-8; they must be a JSON object`},
		{`{"thought":"a\ud800b"}`, `the arguments are not valid UTF-8; they must be a JSON object`},
		{`{"thought":"\udc00\ud800"}`, `the arguments are not valid UTF-8; they must be a JSON object`},
		{`"{\"thought\":\"\\ud83e\"}"`, `the arguments are not valid UTF-8; they must be a JSON object`},
		{"\x00", `the arguments are not valid JSON (unexpected '\x00' at byte 0); they must be a JSON object`},
		{`{"a":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`, `the arguments are not valid JSON (nested more than 64 deep); they must be a JSON object`},
		{`{"a":` + strings.Repeat(`{"a":`, 100_000), `the arguments are not valid JSON (nested more than 64 deep); they must be a JSON object`},
		{strings.Repeat("[", 1_000_000), `the arguments are not valid JSON (nested more than 64 deep); they must be a JSON object`},

		// Messages are short, on one line, and print.
		{`"thoughtNumber":"` + strings.Repeat("x", 1000) + `"`, `thoughtNumber is "` + strings.Repeat("x", 59) + `…; it must be a whole number of at least 1`},
		{`"thoughtNumber":"` + strings.Repeat("😀", 1000) + `"`, `thoughtNumber is "` + strings.Repeat("😀", 59) + `…; it must be a whole number of at least 1`},
		{"\"thoughtNumber\":[\n1,\t\"\u202e\"]", `thoughtNumber is [ 1, "U+202E"]; it must be a whole number of at least 1`},
	}
	for _, tt := range tests {
		args := whole(tt.args)
		if tt.args == `"{}{}"` || tt.args == `" null"` || tt.args == ` ` {
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
	for args, want := range map[string]string{
		`[1]`:          `the arguments are [1]; they must be a JSON object`,
		`"x"`:          `the arguments are "x"; they must be a JSON object`,
		`"null"`:       `the arguments are "null"; they must be a JSON object`,
		`{`:            `the arguments are not valid JSON (it ends too early, after 1 bytes); they must be a JSON object`,
		"{\"\xff\":1}": `the arguments are not valid UTF-8; they must be a JSON object`,
	} {
		if got, err := tool.Object(json.RawMessage(args)); got != nil || err == nil || err.Error() != want {
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
	want := "colour is not an argument of this tool; it must be left out, or one of thought, nextThoughtNeeded, " +
		"thoughtNumber, totalThoughts, isRevision, revisesThought, branchId, view, offset, tags"
	if got.Err == nil || got.Err.Error() != want {
		t.Errorf("got %v\nwant %s", got.Err, want)
	}
}

func TestNullable(t *testing.T) {
	type in struct {
		From   *int    `json:"from"`
		Branch *string `json:"branch"`
	}
	spec := tool.Spec{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{
		"from":{"type":["integer","null"],"minimum":1},"branch":{"type":["string","null"]}},"required":["from","branch"]}`)}
	tests := []struct {
		args, want string
	}{
		{`{"from":null,"branch":null}`, `{"from":null,"branch":null}`},
		{`{"from":"2","branch":"b"}`, `{"from":2,"branch":"b"}`},
		{`{"branch":null}`, `from is missing; it must be a whole number of at least 1, or null`},
		{`{"from":0,"branch":null}`, `from is 0; it must be a whole number of at least 1, or null`},
	}
	for _, tt := range tests {
		var got string
		tl := tool.New(spec,
			func(_ context.Context, _ tool.Call, v in) (tool.Reply, error) {
				got = show(v)
				return tool.Reply{}, nil
			},
			func(err *tool.ArgumentError) (tool.Reply, error) { got = err.Error(); return tool.Reply{}, nil })
		if _, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(tt.args)}); err != nil {
			t.Fatal(err)
		}
		if got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.args, got, tt.want)
		}
	}
}

func TestCallPassesErrorsOn(t *testing.T) {
	fault := errors.New("fault")
	type none struct{}
	tl := tool.New(tool.Spec{Name: "x", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, tool.Call, none) (tool.Reply, error) { return tool.Reply{}, fault },
		func(*tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, nil })
	if _, err := tl.Call(t.Context(), tool.Call{}); !errors.Is(err, fault) {
		t.Errorf("got %v, want %v", err, fault)
	}
}

func TestNamedAndEmbedded(t *testing.T) {
	type id string
	type level int
	type common struct {
		ID    id    `json:"id"`
		Level level `json:"level,omitzero" alias:"lvl"`
	}
	type args struct {
		common
		Text string `json:"text"`
	}
	spec := tool.Spec{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},
		"level":{"type":"integer"},"text":{"type":"string"}},"required":["id","text"]}`)}
	var got args
	tl := tool.New(spec, func(_ context.Context, _ tool.Call, in args) (tool.Reply, error) {
		got = in
		return tool.Reply{}, nil
	}, func(e *tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, e })
	if _, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(`{"text":"c","lvl":"7","id":"a"}`)}); err != nil {
		t.Fatal(err)
	}
	if want := (args{common{"a", 7}, "c"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
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
	spec := tool.Spec{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","minItems":1,"maxItems":3,"items":{
		"type":"object","properties":{"name":{"type":"string","minLength":1},"count":{"type":"integer","minimum":1}},"required":["name"],"additionalProperties":false}}},
		"required":["items"],"additionalProperties":false}`)}
	for _, tt := range []struct{ args, want string }{
		{`{"items":[{"name":"a"},{"name":"b","count":"2"}]}`, `[{"name":"a","count":null},{"name":"b","count":2}]`},
		{`{"items":"[{\"name\":\"a\",\"count\":null}]"}`, `[{"name":"a","count":null}]`},
		{`{"items":["{\"name\":\"a\"}"]}`, `[{"name":"a","count":null}]`},
		{`{}`, `items is missing; it must be an array of 1 to 3 objects`},
		{`{"items":[]}`, `items is []; it must be an array of 1 to 3 objects`},
		{`{"items":{}}`, `items is {}; it must be an array of 1 to 3 objects`},
		{`{"items":[{"name":"a"},{"name":"a"},{"name":"a"},{"name":"a"}]}`, `items is longer than 3 items; it must be an array of 1 to 3 objects`},
		{`{"items":[{"name":"a"},{"count":1}]}`, `items[1].name is missing; it must be a string that is not empty`},
		{`{"items":[{"name":"a","count":0}]}`, `items[0].count is 0; it must be a whole number of at least 1`},
		{`{"items":[{"name":"a","size":0}]}`, `items[0].size is not an argument of this tool; it must be left out, or one of name, count`},
		{`{"items":[7]}`, `items[0] is 7; it must be a JSON object`},
	} {
		got := ""
		tl := tool.New(spec,
			func(_ context.Context, _ tool.Call, v in) (tool.Reply, error) {
				got = show(v.Items)
				return tool.Reply{}, nil
			},
			func(err *tool.ArgumentError) (tool.Reply, error) { got = err.Error(); return tool.Reply{}, nil })
		for range 2 { // the second call reuses the first one's memory
			if _, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(tt.args)}); err != nil || got != tt.want {
				t.Errorf("%s\n got %s, %v\nwant %s", tt.args, got, err, tt.want)
			}
		}
	}
}
