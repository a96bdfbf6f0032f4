package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

func TestLoneSurrogate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`"\ud83d\ude00"`: false, `"\\ud83d"`: false, `"\u00e9\n"`: false, ``: false, `\`: false,
		`"\ud83d"`: true, `"\ude00\ud83d"`: true, `"\ud83dx\ude00"`: true, `"\ud83d\n"`: true, `"\\\uD83D"`: true,
	} {
		if got := jsonscan.LoneSurrogate([]byte(text)); got != want {
			t.Errorf("LoneSurrogate(%s) = %t, want %t", text, got, want)
		}
	}
}

// FuzzSplit compares the parts of objects, arrays and strings with those that encoding/json reads.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		`{"a":1,"b":[true,{"c":"}\"]"}],"\u0061":-1.5e3,"":null}`, ` [ 1 , "a\\" ,[], {} ] `, `"\ud83d\"\n"`, `[1 2]`, `{"a"}`, `{"`, `["\`, `]`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		members, elements := make(map[string]json.RawMessage), []json.RawMessage{}
		for name, value := range jsonscan.Members(text) {
			members[string(bytes.ToValidUTF8(name, []byte(string(utf8.RuneError))))] = value
		}
		for value := range jsonscan.Elements(text) {
			elements = append(elements, value)
		}
		got, ok := jsonscan.Text(bytes.Trim(text, jsonscan.Space))
		if !json.Valid(text) || !utf8.Valid(text) {
			return // no panic is enough
		}
		same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
		var wantMembers map[string]json.RawMessage
		if json.Unmarshal(text, &wantMembers) == nil && !maps.EqualFunc(members, wantMembers, same) {
			t.Errorf("%s has the members %s, want %s", text, members, wantMembers)
		}
		var wantElements []json.RawMessage
		if json.Unmarshal(text, &wantElements) == nil && !slices.EqualFunc(elements, wantElements, same) {
			t.Errorf("%s has the elements %s, want %s", text, elements, wantElements)
		}
		var want *string
		if err := json.Unmarshal(text, &want); ok != (err == nil && want != nil) || ok && string(got) != *want {
			t.Errorf("%s is the text %q, %t", text, got, ok)
		}
	})
}
