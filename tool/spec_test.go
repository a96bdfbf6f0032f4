package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/tool"
)

func TestParse(t *testing.T) {
	spec := `{
		"name": "think",
		"title": "Think",
		"inputSchema": {"type": "object", "description": "a < b\u00e9"},
		"outputSchema": {"b": 1, "a": 2.0},
		"annotations": {"readOnlyHint": true, "openWorldHint": true}
	}`
	got := tool.Parse([]byte(spec), []byte("\nThink.\n\n"))
	want := tool.Spec{
		Name: "think", Title: "Think", Description: "Think.",
		InputSchema:  json.RawMessage(`{"type":"object","description":"a < b\u00e9"}`),
		OutputSchema: json.RawMessage(`{"b":1,"a":2.0}`),
		Annotations:  tool.Annotations{ReadOnly: true, OpenWorld: true},
	}
	if show(got) != show(want) {
		t.Errorf("got %s\nwant %s", show(got), show(want))
	}
	got = tool.Parse([]byte(`{"name":"x","description":"y","inputSchema":{}}`), nil)
	if got.Description != "y" || got.OutputSchema != nil {
		t.Errorf("got description %q and output schema %q, want y and none", got.Description, got.OutputSchema)
	}
}

func TestParsePanics(t *testing.T) {
	tests := []struct{ spec, description, want string }{
		{`{`, "d", "unexpected EOF"},
		{`{"name":"x","inputSchema":{}} {}`, "d", "something follows"},
		{`{"name":"x","inputSchema":{},"extra":1}`, "d", `unknown field "extra"`},
		{`{"inputSchema":{}}`, "d", "must have a name"},
		{`{"name":"x"}`, "d", "an inputSchema"},
		{`{"name":"x","inputSchema":{}}`, " ", "must have one description"},
		{`{"name":"x","inputSchema":{},"description":"y"}`, "d", "must have one description"},
	}
	for _, tt := range tests {
		if got := panicOf(func() { tool.Parse([]byte(tt.spec), []byte(tt.description)) }); !strings.Contains(got, tt.want) {
			t.Errorf("Parse(%s, %q) panics with %q, want %q in it", tt.spec, tt.description, got, tt.want)
		}
	}
}

func panicOf(f func()) (message string) {
	defer func() {
		if r := recover(); r != nil {
			message = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestNewPanicsOnDisagreement(t *testing.T) {
	type (
		str struct {
			A string `json:"a"`
		}
		strZero struct {
			A string `json:"a,omitzero"`
		}
		strPointer struct {
			A *string `json:"a"`
		}
		strPointerZero struct {
			A *string `json:"a,omitzero"`
		}
		float struct {
			A float64 `json:"a"`
		}
		list struct {
			A []string `json:"a"`
		}
		listPointer struct {
			A *[]string `json:"a"`
		}
		embeddingPointer struct{ *str }
		untagged         struct{ A string }
		unexported       struct{ _ string }
		two              struct {
			A string `json:"a"`
			B string `json:"b"`
		}
		sameAlias struct {
			A string `json:"a" alias:"b"`
			B string `json:"b"`
		}
	)
	object := func(properties, rest string) string {
		return `{"type":"object","properties":{` + properties + `}` + rest + `}`
	}
	required := `,"required":["a"]`

	tests := []struct {
		schema string
		new    func(tool.Spec)
		want   string // empty for none
	}{
		{object(`"a":{"type":"string"}`, required), build[str], ""},
		{object(`"a":{"type":"string"}`, ""), build[strZero], ""},
		{object(`"a":{"type":"string"}`, ""), build[strPointer], ""},
		{object(`"a":{"type":["string","null"]}`, required), build[strPointer], ""},
		{object(`"a":{"type":"array","items":{"type":"string"}}`, ""), build[list], ""},

		{object(`"a":{"type":"string"}`, ""), build[str], "is not a pointer"},
		{object(`"a":{"type":"string"}`, required), build[strZero], "is not a pointer"},
		{object(`"a":{"type":"string"}`, ""), build[strPointerZero], "is a pointer"},
		{object(`"a":{"type":["string","null"]}`, required), build[str], "is not a pointer"},
		{object(`"a":{"type":"string"}`, required), build[embeddingPointer], "exported"},
		{object(`"a":{"type":"integer"}`, required), build[str], "published as integer"},
		{object(`"a":{"type":"number"}`, required), build[float], ""},
		{object(`"a":{"type":"array","items":{"type":"string"}}`, ""), build[listPointer], "not an array"},
		{object(`"a":{"type":"array"}`, ""), build[list], "no items"},
		{object(`"a":{"type":["string","integer"]}`, required), build[str], "want one type"},
		{object(`"a":{"type":"string"}`, required), build[two], "field b"},
		{object(`"a":{"type":"string"},"b":{"type":"string"}`, required), build[str], "property b has no field"},
		{object(`"a":{"type":"string"},"b":{"type":"string"}`, `,"required":["a","b"]`), build[sameAlias], "name of two"},
		{object(`"a":{"type":"string"}`, `,"required":["a","c"]`), build[str], "c is required"},
		{object(`"a":{"type":"string"}`, required), build[untagged], "tagged"},
		{object(`"a":{"type":"string"}`, required), build[unexported], "exported"},
		{object(`"a":{"type":"string"}`, required), build[string], "published as object"},
		{object(`"a":{"type":"string","pattern":"x"}`, required), build[str], "pattern"},
		{object(`"a":{"type":"string","minimum":1}`, required), build[str], "keyword minimum"},
		{object(`"a":{"type":"string"}`, `,"oneOf":[]`), build[str], "oneOf"},
		{`{"type":"array"}`, build[str], "published as array"},
		{`{`, build[str], "cannot read the schema"},
	}
	for _, tt := range tests {
		got := panicOf(func() { tt.new(tool.Spec{Name: "x", InputSchema: json.RawMessage(tt.schema)}) })
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s\npanics with %q, want %q", tt.schema, got, tt.want)
		}
	}
}

func build[In any](s tool.Spec) {
	tool.New(s,
		func(context.Context, tool.Call, In) (tool.Reply, error) { return tool.Reply{}, nil },
		func(*tool.ArgumentError) (tool.Reply, error) { return tool.Reply{}, nil })
}

func TestJSONReply(t *testing.T) {
	got := tool.JSONReply(struct {
		B string `json:"b"`
		A []int  `json:"a"`
	}{"<&>\n😀", []int{}})
	want := `{"b":"<&>\n😀","a":[]}`
	if got.Text != want || string(got.JSON) != want || got.Failed {
		t.Errorf("got %+v, want both %s", got, want)
	}
}

func TestRefusal(t *testing.T) {
	tests := []struct {
		r          tool.Refusal
		text, json string
	}{
		{
			tool.Refusal{Code: "SESSION_NOT_FOUND", Field: "sessionId", Message: `there is no session "<x>"`, Fix: "omit it to begin one"},
			`SESSION_NOT_FOUND: there is no session "<x>"; omit it to begin one`,
			`{"error":{"code":"SESSION_NOT_FOUND","field":"sessionId","message":"there is no session \"<x>\"","fix":"omit it to begin one"}}`,
		},
		{
			tool.Refusal{Code: "INTERNAL", Message: "a\nb"},
			"INTERNAL: a b", `{"error":{"code":"INTERNAL","message":"a\nb"}}`,
		},
	}
	for _, tt := range tests {
		got := tt.r.Reply()
		if got.Text != tt.text || string(got.JSON) != tt.json || !got.Failed {
			t.Errorf("got %+v\nwant %s\n%s", got, tt.text, tt.json)
		}
	}
}
