package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent/tool"
)

func TestNumbers(t *testing.T) {
	type in struct {
		Heat  *float64 `json:"heat"`
		Share float64  `json:"share,omitzero"`
	}
	spec := tool.Spec{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{
		"heat":{"type":"number","minimum":0,"maximum":2},"share":{"type":"number"}}}`)}
	tests := []struct{ args, want string }{
		{`{}`, `{"heat":null}`},
		{`{"heat":null,"share":null}`, `{"heat":null}`},
		{`{"heat":0}`, `{"heat":0}`},
		{`{"heat":0.7}`, `{"heat":0.7}`},
		{`{"heat":" 0.7 "}`, `{"heat":0.7}`},
		{`{"heat":"7e-1"}`, `{"heat":0.7}`},
		{`{"heat":2.0}`, `{"heat":2}`},
		{`{"heat":1e-999}`, `{"heat":0}`},
		{`{"share":-1.5}`, `{"heat":null,"share":-1.5}`},
		{`{"heat":2.0001}`, `heat is 2.0001; it must be a number from 0 to 2`},
		{`{"heat":-0.1}`, `heat is -0.1; it must be a number from 0 to 2`},
		{`{"heat":"warm"}`, `heat is "warm"; it must be a number from 0 to 2`},
		{`{"heat":true}`, `heat is true; it must be a number from 0 to 2`},
		{`{"heat":""}`, `heat is ""; it must be a number from 0 to 2`},
		{`{"heat":"0x1p-2"}`, `heat is "0x1p-2"; it must be a number from 0 to 2`},
		{`{"heat":"NaN"}`, `heat is "NaN"; it must be a number from 0 to 2`},
		{`{"share":"Inf"}`, `share is "Inf"; it must be a number`},
		{`{"share":1e999}`, `share is 1e999; it must be a number`},
		{`{"share":[]}`, `share is []; it must be a number`},
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
