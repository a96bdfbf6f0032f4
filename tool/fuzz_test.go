package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

type fuzzInput struct {
	Thought string   `json:"thought"`
	Next    bool     `json:"next"`
	Number  *int     `json:"number" alias:"num"`
	Offset  int      `json:"offset,omitzero"`
	Heat    *float64 `json:"heat"`
	Branch  *string  `json:"branch"`
	Tags    []string `json:"tags"`
}

const fuzzSchema = `{"type":"object","properties":{"thought":{"type":"string","minLength":1},"next":{"type":"boolean"},
	"number":{"type":"integer","minimum":1},"offset":{"type":"integer"},"branch":{"type":"string"},
	"tags":{"type":"array","items":{"type":"string"}},"heat":{"type":"number"}},"required":["thought","next"]}`

// FuzzDecode checks the decoder against encoding/json: what it accepts is JSON
// and means the same there, and it refuses nothing that fits the schema strictly.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"thought":"a","next":true}`,
		`{"thought":"\u00e9\ud83d\ude00\ud800","next":"False","number":"7.0","offset":-70e-1,"branch":null,"tags":["a","b"]}`,
		`"{\"thought\":\"a\",\"next\":true,\"tags\":\"[\\\"a\\\"]\"}"`,
		`{"num":1e2,"number":null,"x":{"y":[1,2,{"z":null}]},"thought":"a","thought":"b","next":false}`,
		`{"number":9007199254740992,"offset":0.0e99999999999}`, `[]`, `null`, ``, "\xff", `{"thought":"\`,
	} {
		f.Add([]byte(seed))
	}
	v, _ := compile(json.RawMessage(fuzzSchema), reflect.TypeFor[fuzzInput](), "fuzz")
	decode := func(args []byte, checked bool) (in fuzzInput, unknown []string, err *ArgumentError) {
		if args, err = object(args, checked); err != nil {
			return in, nil, err
		}
		unknown, faults := v.object.decode(args, reflect.ValueOf(&in).Elem())
		if len(faults) > 0 {
			return in, nil, faults[0]
		}
		return in, unknown, nil
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		before := bytes.Clone(args)
		in, unknown, err := decode(args, false)
		if !bytes.Equal(args, before) {
			t.Fatalf("the arguments were changed from %q to %q", before, args)
		}
		again, unknownAgain, errAgain := decode(args, true) // what is not valid is misread, but without a panic
		same := reflect.DeepEqual(again, in) && reflect.DeepEqual(unknownAgain, unknown) && reflect.DeepEqual(errAgain, err)
		if check(args) == nil && !same {
			t.Errorf("%q\ndecoded: %+v, %q, %v\nas checked arguments: %+v, %q, %v", args, in, unknown, err, again, unknownAgain, errAgain)
		}
		for _, u := range unknown {
			if !utf8.ValidString(u) || strings.ContainsAny(u, "\n\r\x00") {
				t.Errorf("%q\nunknown name %q", args, u)
			}
		}
		if err != nil {
			if s := err.Error(); !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x00") || len(s) > 1000 {
				t.Errorf("%q\nerror %q", args, s)
			}
			if want, ok := strictly(args); ok {
				t.Errorf("%q\nrefused: %v\nencoding/json: %+v", args, err, want)
			}
			return
		}
		if inner := ""; json.Unmarshal(args, &inner) == nil && inner != "" {
			args = []byte(inner)
		}
		var raw map[string]json.RawMessage
		if err := json.Unmarshal(args, &raw); err != nil {
			t.Fatalf("%q\naccepted; encoding/json: %v", args, err)
		}
		meansText(t, raw["thought"], &in.Thought)
		meansText(t, raw["branch"], in.Branch)
		meansBool(t, raw["next"], in.Next)
		meansInt(t, raw["offset"], &in.Offset)
		if number := raw["number"]; number != nil && string(number) != "null" {
			meansInt(t, number, in.Number)
		} else {
			meansInt(t, raw["num"], in.Number)
		}
		meansTexts(t, raw["tags"], in.Tags)
		meansFloat(t, raw["heat"], in.Heat)
	})
}

func null(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

func meansText(t *testing.T, raw json.RawMessage, got *string) {
	t.Helper()
	var want string
	if null(raw) {
		if got != nil && *got != "" {
			t.Errorf("got %q for %q", *got, raw)
		}
	} else if err := json.Unmarshal(raw, &want); err != nil || got == nil || *got != want {
		t.Errorf("got %v for %q, encoding/json %q and %v", got, raw, want, err)
	}
}

func meansTexts(t *testing.T, raw json.RawMessage, got []string) {
	t.Helper()
	if inner := ""; json.Unmarshal(raw, &inner) == nil && inner != "" {
		raw = json.RawMessage(inner)
	}
	var want []json.RawMessage
	if null(raw) {
		if got != nil {
			t.Errorf("got %q for %q", got, raw)
		}
	} else if err := json.Unmarshal(raw, &want); err != nil || len(got) != len(want) {
		t.Errorf("got %q for %q, encoding/json %q and %v", got, raw, want, err)
	} else {
		for i := range want {
			meansText(t, want[i], &got[i])
		}
	}
}

// loosely is the text of a value, or of the string that it is.
func loosely(raw json.RawMessage) string {
	var inner string
	if json.Unmarshal(raw, &inner) == nil {
		return strings.TrimSpace(inner)
	}
	return string(raw)
}

func meansBool(t *testing.T, raw json.RawMessage, got bool) {
	t.Helper()
	text := loosely(raw)
	if want := strings.EqualFold(text, "true"); got != want || (!want && !strings.EqualFold(text, "false")) {
		t.Errorf("got %v for %q", got, raw)
	}
}

func meansInt(t *testing.T, raw json.RawMessage, got *int) {
	t.Helper()
	if null(raw) {
		if got != nil && *got != 0 {
			t.Errorf("got %d for %q", *got, raw)
		}
		return
	}
	if want, err := strconv.ParseFloat(loosely(raw), 64); err != nil && !errors.Is(err, strconv.ErrRange) || got == nil || want != float64(*got) {
		t.Errorf("got %v for %q, want %v, %v", got, raw, want, err)
	}
}

func meansFloat(t *testing.T, raw json.RawMessage, got *float64) {
	t.Helper()
	var want float64
	if null(raw) {
		if got != nil {
			t.Errorf("got %v for %q", *got, raw)
		}
	} else if err := json.Unmarshal([]byte(loosely(raw)), &want); err != nil || got == nil || *got != want {
		t.Errorf("got %v for %q, encoding/json %v and %v", got, raw, want, err)
	}
}

// strictly reports whether the arguments fit the schema to the letter.
func strictly(args []byte) (in fuzzInput, ok bool) {
	var raw map[string]json.RawMessage
	if check(args) != nil {
		return in, false
	}
	if json.Unmarshal(args, &raw) != nil || raw["num"] != nil || null(raw["thought"]) || null(raw["next"]) {
		return in, false
	}
	// encoding/json matches names in any case; keep the exact ones only.
	for k := range raw {
		switch k {
		case "thought", "next", "number", "offset", "branch", "tags", "heat":
		default:
			delete(raw, k)
		}
	}
	exact, err := json.Marshal(raw)
	if err != nil || json.Unmarshal(exact, &in) != nil || bytes.Contains(raw["tags"], []byte("null")) {
		return in, false
	}
	fits := in.Thought != "" && (in.Number == nil || 1 <= *in.Number && *in.Number <= maxInt) &&
		-maxInt <= in.Offset && in.Offset <= maxInt &&
		(in.Heat == nil || -maxInt <= *in.Heat && *in.Heat <= maxInt)
	return in, fits
}
