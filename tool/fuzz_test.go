package tool

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
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
	p := compile[fuzzInput](Spec{Name: "fuzz", InputSchema: json.RawMessage(fuzzSchema)})
	f.Fuzz(func(t *testing.T, args []byte) {
		before := bytes.Clone(args)
		var in fuzzInput
		unknown, err := p.decode(args, false, p.pointers(reflect.ValueOf(&in).Elem()))
		if !bytes.Equal(args, before) {
			t.Fatalf("the arguments were changed from %q to %q", before, args)
		}
		s := jsonscan.New(args, maxDepth)
		s.Value()
		if json.Valid(args) && utf8.Valid(args) && !s.LoneSurrogate() {
			var again fuzzInput
			unknownAgain, errAgain := p.decode(args, true, p.pointers(reflect.ValueOf(&again).Elem()))
			if !reflect.DeepEqual(again, in) || !reflect.DeepEqual(unknownAgain, unknown) || !reflect.DeepEqual(errAgain, err) {
				t.Errorf("%q\ndecoded: %+v, %q, %v\nas checked arguments: %+v, %q, %v", args, in, unknown, err, again, unknownAgain, errAgain)
			}
		} else { // misread, but without a panic
			_, _ = p.decode(args, true, p.pointers(reflect.ValueOf(new(fuzzInput)).Elem()))
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
	text := loosely(raw)
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(exponent) > 4 {
		return // beyond what big.Rat can hold in memory
	}
	want, ok := new(big.Rat).SetString(text)
	if !ok || got == nil || want.Cmp(new(big.Rat).SetInt64(int64(*got))) != 0 {
		t.Errorf("got %v for %q", got, raw)
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
	if !utf8.Valid(args) || bytes.Count(args, []byte("[")) > maxDepth || bytes.Count(args, []byte("{")) > maxDepth {
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

func BenchmarkDecode(b *testing.B) {
	type input struct {
		Thought  string  `json:"thought"`
		Next     bool    `json:"nextThoughtNeeded" alias:"next_thought_needed"`
		Number   *int    `json:"thoughtNumber" alias:"thought_number"`
		Total    *int    `json:"totalThoughts" alias:"total_thoughts"`
		Revision bool    `json:"isRevision,omitzero" alias:"is_revision"`
		Revises  *int    `json:"revisesThought" alias:"revises_thought"`
		From     *int    `json:"branchFromThought" alias:"branch_from_thought"`
		Branch   *string `json:"branchId" alias:"branch_id"`
		Extend   bool    `json:"needsMoreThoughts,omitzero" alias:"needs_more_thoughts"`
	}
	integer := `{"type":"integer","minimum":1}`
	boolean := `{"type":"boolean"}`
	p := compile[input](Spec{Name: "bench", InputSchema: json.RawMessage(`{"type":"object","properties":{
		"thought":{"type":"string","minLength":1},"nextThoughtNeeded":` + boolean + `,"thoughtNumber":` + integer + `,
		"totalThoughts":` + integer + `,"isRevision":` + boolean + `,"revisesThought":` + integer + `,
		"branchFromThought":` + integer + `,"branchId":{"type":"string"},"needsMoreThoughts":` + boolean + `},
		"required":["thought","nextThoughtNeeded"]}`)})
	rest := `","nextThoughtNeeded":true,"thoughtNumber":12,"totalThoughts":20,"isRevision":true,"revisesThought":9,` +
		`"branchFromThought":7,"branchId":"cache","needsMoreThoughts":false}`
	for name, text := range map[string]string{
		"plain":   strings.Repeat("the cache is cold, ", 17),
		"escaped": strings.Repeat(`the \"cache\" is\ncold, `, 14),
		"wide":    strings.Repeat("der Zähler läuft über, ", 13),
	} {
		args := []byte(`{"thought":"` + text + rest)
		for mode, checked := range map[string]bool{"": false, "Checked": true} {
			b.Run(name+mode, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(args)))
				var in input
				to := p.pointers(reflect.ValueOf(&in).Elem())
				for b.Loop() {
					in = input{}
					if _, err := p.decode(args, checked, to); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
