package jsonscan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// inPieces decodes an object that arrives in pieces of n bytes.
func inPieces(object string, n int) string {
	p, out := jsonscan.NewPieces("thought"), ""
	for len(object) > 0 {
		n := min(n, len(object))
		out += p.Add(object[:n])
		object = object[n:]
	}
	return out
}

func TestPieces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ object, want string }{
		{`{"thought":"a b"}`, "a b"},
		{"Here:\n```json\n{ \"confidence\" : 0.5 , \"thought\" : \"a\" }\n```\n{\"thought\":\"b\"}", "a"},
		{`{"x":{"thought":"no","y":["thought","no"]},"z":"thought","thought":"yes","after":"no"}`, "yes"},
		{`{"thoughts":"no","though":"no","th\u006fught":"yes"}`, "yes"},
		{`{"thought":"\"\\\/\b\f\n\r\t"}`, "\"\\/\b\f\n\r\t"},
		{`{"thought":"\u00e9\ud83d\ude00é😀日本"}`, "é😀é😀日本"},
		{`{"thought":"\ud83dx\ude00\ud83d\n"}`, "\uFFFDx\uFFFD\uFFFD\n"},
		{`{"thought":"\ud83d\ud83d\ude00"}`, "\uFFFD😀"},
		{`{"thought":"cut of`, "cut of"},
		{`{"thought":7,"x":"y"}`, ""},
		{`{"thought":["a"]}`, ""},
		{`no object`, ""},
		{``, ""},
	} {
		for _, n := range []int{1, 2, 3, 5, 1000} {
			if got := inPieces(tt.object, n); got != tt.want {
				t.Errorf("%s in pieces of %d bytes is %q, want %q", tt.object, n, got, tt.want)
			}
		}
	}
}

// FuzzPieces compares with encoding/json.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{`{"thought":"a\n\ud83d\ude00"}`, `{"a":{},"thought":"\\\"é"}`, `{"thought":"\ud83d\u0041\ud83d"}`} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, object string, n int) {
		n = max(1+max(n, -n)%7, 1)
		got := inPieces(object, n)
		if whole := inPieces(object, len(object)+1); whole != got {
			t.Fatalf("%q in pieces of %d bytes is %q, at once %q", object, n, got, whole)
		}
		var all map[string]json.RawMessage
		var want string
		if !utf8.ValidString(object) || !strings.HasPrefix(object, "{") || json.Unmarshal([]byte(object), &all) != nil ||
			json.Unmarshal(all["thought"], &want) != nil || strings.Count(object, `thought`) != 1 {
			return
		}
		if got != want {
			t.Errorf("%q is %q, want %q", object, got, want)
		}
	})
}
