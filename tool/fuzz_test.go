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
		if want := loosely(t, args); !reflect.DeepEqual(in, want) {
			t.Errorf("%q\naccepted: %+v\nencoding/json: %+v", args, in, want)
		}
	})
}

func null(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// loosely returns what encoding/json reads when the loose forms are made strict: strings that
// contain a value, any case of booleans, any form of whole numbers, an alias, and null.
func loosely(t *testing.T, args []byte) (in fuzzInput) {
	unquoted := func(raw json.RawMessage) json.RawMessage {
		if inner := ""; json.Unmarshal(raw, &inner) == nil && inner != "" {
			return json.RawMessage(strings.TrimSpace(inner))
		}
		return raw
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(unquoted(args), &raw); err != nil {
		t.Fatalf("%q\naccepted; encoding/json: %v", args, err)
	}
	if null(raw["number"]) {
		raw["number"] = raw["num"]
	}
	strict := make(map[string]json.RawMessage)
	for _, name := range []string{"thought", "next", "number", "offset", "heat", "branch", "tags"} {
		value := raw[name]
		if null(value) {
			continue
		}
		switch name {
		case "next":
			value = bytes.ToLower(unquoted(value))
		case "number", "offset":
			n, err := strconv.ParseFloat(string(unquoted(value)), 64)
			if err != nil && !errors.Is(err, strconv.ErrRange) {
				t.Errorf("%s is %q, which was accepted: %v", name, value, err)
			}
			value = strconv.AppendFloat(nil, n, 'f', -1, 64)
		case "heat", "tags":
			value = unquoted(value)
		}
		strict[name] = value
	}
	text, err := json.Marshal(strict)
	if err == nil {
		err = json.Unmarshal(text, &in)
	}
	if err != nil {
		t.Errorf("%q\naccepted; encoding/json of %s: %v", args, text, err)
	}
	return in
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
