package command

import (
	"bytes"
	"encoding/json"
	"testing"
)

// JSON output sends nothing to a terminal that it acts upon.
func TestJSONOutputIsEscaped(t *testing.T) {
	t.Parallel()
	const text = "a\u009b2J\u0085\u007f\u202e\u2066\u200f\u061c ü <日本> \U0001f9f5"
	var out bytes.Buffer
	if err := writeJSON(&out, text); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), `"a\u009b2J\u0085\u007f\u202e\u2066\u200f\u061c ü <日本> 🧵"`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != text {
		t.Errorf("got %q, %v", back, err)
	}
}
