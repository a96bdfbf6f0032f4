package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sequent-dev/sequent/internal/jsonscan"
)

// outline reads a value of any kind to its leaves.
func outline(s *jsonscan.Scanner) string {
	switch s.Kind() {
	case '{':
		s.Object()
		var list []string
		for s.Member() {
			name := string(s.Name())
			list = append(list, name+"="+outline(s))
		}
		return "{" + strings.Join(list, " ") + "}"
	case '[':
		s.Array()
		var list []string
		for s.Element() {
			list = append(list, outline(s))
		}
		return "[" + strings.Join(list, " ") + "]"
	default:
		return string(s.Value())
	}
}

func TestScanner(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{}`, `{}`},
		{` [ ] `, `[]`},
		{`{"a":1,"b":[true,false,null],"a":{"c":"d"}}`, `{a=1 b=[true false null] a={c="d"}}`},
		{"\t{\r\n\"a\" : -1.5e+7 , \"b\":[ [ ] , { } ]\n} ", `{a=-1.5e+7 b=[[] {}]}`},
		{`{"\u0061\n":"\"","":"é"}`, "{a\n=\"\\\"\" =\"é\"}"},
		{`"0123456\\"`, `"0123456\\"`},
		{`["01234567","\"0123456","012345678\t","€uro and 😀"]`, `["01234567" "\"0123456" "012345678\t" "€uro and 😀"]`},
		{`-0.0E-0`, `-0.0E-0`},
	}
	for _, tt := range tests {
		for mode, scan := range modes {
			s := scan([]byte(tt.text), 8)
			got := outline(&s)
			if err := s.End(); got != tt.want || err != nil {
				t.Errorf("%s %s: got %s and %v, want %s", mode, tt.text, got, err, tt.want)
			}
		}
	}
}

var modes = map[string]func([]byte, int) jsonscan.Scanner{"New": jsonscan.New, "NewChecked": jsonscan.NewChecked}

func TestErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{``, "it ends too early, after 0 bytes"},
		{` `, "it ends too early, after 1 bytes"},
		{`nul`, "it ends too early, after 3 bytes"},
		{`nulL`, "unexpected 'L' at byte 3"},
		{`{"a`, "it ends too early, after 3 bytes"},
		{`{"a"`, "it ends too early, after 4 bytes"},
		{`{"a":1`, "it ends too early, after 6 bytes"},
		{`{"a":1} x`, "unexpected 'x' at byte 8"},
		{`{"a":1,}`, "unexpected '}' at byte 7"},
		{`{,"a":1}`, "unexpected ',' at byte 1"},
		{`{"a" 1}`, "unexpected '1' at byte 5"},
		{`{"a":1 "b":2}`, "unexpected '\"' at byte 7"},
		{`{a:1}`, "unexpected 'a' at byte 1"},
		{`{"a":01}`, "unexpected '1' at byte 6"},
		{`{"a":1.}`, "unexpected '1' at byte 5"},
		{`{"a":-}`, "unexpected '-' at byte 5"},
		{`{"a":1e}`, "unexpected '1' at byte 5"},
		{`{"a":NaN}`, "unexpected 'N' at byte 5"},
		{`[1,]`, "unexpected ']' at byte 3"},
		{`[,1]`, "unexpected ',' at byte 1"},
		{`[1 2]`, "unexpected '2' at byte 3"},
		{`[1}`, "unexpected '}' at byte 2"},
		{`{"a":[{"b":1]}`, "unexpected ']' at byte 12"},
		{`"\x41"`, "bad escape in a string at byte 1"},
		{`"\u00g1"`, "bad escape in a string at byte 1"},
		{`"\u00"`, "bad escape in a string at byte 1"},
		{`"\`, "bad escape in a string at byte 1"},
		{"\"0123456789\n\"", "unexpected '\\n' at byte 11"},
		{"\x00", "unexpected '\\x00' at byte 0"},
		{"\xff", "unexpected '�' at byte 0"},
		{`[[[[]]]]`, "nested more than 3 deep"},
		{strings.Repeat("[", 1<<20), "nested more than 3 deep"},
	}
	for _, tt := range tests {
		s := jsonscan.New([]byte(tt.text), 3)
		outline(&s)
		deep := s.End()
		s = jsonscan.New([]byte(tt.text), 3)
		s.Value()
		flat := s.End()
		for how, err := range map[string]error{"to its leaves": deep, "as a value": flat} {
			if bad, ok := errors.AsType[*jsonscan.SyntaxError](err); !ok || err.Error() != tt.want {
				t.Errorf("%.40q read %s: got %v, want %s", tt.text, how, err, tt.want)
			} else if !strings.Contains(tt.want, "nested") && !strings.Contains(tt.want, fmt.Sprint(bad.Offset)) {
				t.Errorf("%.40q read %s: got offset %d, want that of %s", tt.text, how, bad.Offset, tt.want)
			}
		}
	}
	for _, text := range []string{"\"\xff\"", "{\"\xc3\x28\":1}", "[\"01234567\xed\xa0\x80\"]"} {
		s := jsonscan.New([]byte(text), 3)
		s.Value()
		if err := s.End(); !errors.Is(err, jsonscan.ErrUTF8) {
			t.Errorf("%q: got %v, want ErrUTF8", text, err)
		}
	}
}

// After an error nothing more is read.
func TestErrorsStay(t *testing.T) {
	s := jsonscan.New([]byte(`{"a":x,"b":1}`), 8)
	if !s.Object() || !s.Member() || s.Value() != nil {
		t.Fatal("the bad value was read")
	}
	if s.Member() || s.Object() || s.Array() || s.Element() || s.Value() != nil {
		t.Error("something was read after an error")
	}
	if err := s.End(); err == nil || err.Error() != "unexpected 'x' at byte 5" {
		t.Errorf("got %v, want the first error", err)
	}
}

// Values share the memory of the text and cannot be appended to over it.
func TestValueIsASlice(t *testing.T) {
	text := []byte(`{"a":"b","c":1}`)
	s := jsonscan.New(text, 8)
	s.Object()
	s.Member()
	_ = append(s.Value(), "overwritten"...)
	if string(text) != `{"a":"b","c":1}` {
		t.Errorf("the text has become %s", text)
	}
	if n := testing.AllocsPerRun(10, func() {
		s := jsonscan.New(text, 8)
		for s.Object(); s.Member(); {
			s.Value()
		}
		if s.End() != nil {
			t.Error("an error")
		}
	}); n != 0 {
		t.Errorf("a scan allocates %v times, want 0", n)
	}
}

func TestText(t *testing.T) {
	tests := []struct {
		value, want string
		ok          bool
	}{
		{`"a"`, "a", true},
		{`""`, "", true},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", true},
		{`"\u00e9\uD83D\ude00!"`, "é😀!", true},
		{`"\ud83d"`, "\uFFFD", true},
		{`"\ud83dx"`, "\uFFFDx", true},
		{`"\ud83d\n"`, "\uFFFD\n", true},
		{`"\ud83d\u0041"`, "\uFFFDA", true},
		{`"\ude00\ud83d\ude00"`, "\uFFFD😀", true},
		{`1`, "", false},
		{`null`, "", false},
		{`"`, "", false},
		{``, "", false},
		{`"\`, "", true},              // not from a Scanner
		{`"\u12"`, "\uFFFDu12", true}, // likewise
	}
	for _, tt := range tests {
		got, ok := jsonscan.Text([]byte(tt.value))
		shared, ok2 := jsonscan.TextBytes([]byte(tt.value))
		if got != tt.want || string(shared) != tt.want || ok != tt.ok || ok2 != tt.ok {
			t.Errorf("%s: got %q, %q, %v and %v, want %q and %v", tt.value, got, shared, ok, ok2, tt.want, tt.ok)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-0": true, "10": true, "1.50": true, "1e9": true, "-1.0E-09": true,
		"": false, "-": false, "01": false, "+1": false, ".5": false, "1.": false, "1e": false, "1e+": false,
		"0x1": false, "1 ": false, "NaN": false, "1,2": false,
	} {
		if got := jsonscan.Number([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// FuzzScanner compares the scanner with encoding/json.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2.5e-3,true,null,{"b":"\u00e9\ud83d\ude00"}],"a":"12345678\n12345678"}`,
		`"\\\\\\\""`, `[[],{},""]`, `"é12345678é"`, "\"\xff\"", `{"a":"b`, ` 7 `, `"\ud800"`, `"\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		before := bytes.Clone(text)
		s := jsonscan.New(text, 1<<20)
		value := s.Value()
		err := s.End()
		if want := json.Valid(text) && utf8.Valid(text); (err == nil) != want {
			t.Fatalf("%q: got %v, encoding/json and utf8 say %v", text, err, want)
		}
		deep := jsonscan.New(text, 1<<20)
		drawn := outline(&deep)
		if got := deep.End(); fmt.Sprint(got) != fmt.Sprint(err) {
			t.Errorf("%q: to its leaves %v, as a value %v", text, got, err)
		}
		checked := jsonscan.NewChecked(text, 1<<20) // must not panic, whatever the text
		if got := outline(&checked); err == nil && (got != drawn || checked.End() != nil) {
			t.Errorf("%q: got %s and %v when checked before, want %s", text, got, checked.End(), drawn)
		}
		jsonscan.Text(text)
		if err == nil && value[0] == '"' {
			var want string
			if got, _ := jsonscan.Text(value); json.Unmarshal(value, &want) != nil || got != want {
				t.Errorf("%q: got %q, want %q", value, got, want)
			}
		}
		if !bytes.Equal(text, before) {
			t.Errorf("the text was changed from %q to %q", before, text)
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	for name, text := range map[string]string{
		"plain":   strings.Repeat("the cache is cold, ", 17),
		"escaped": strings.Repeat(`the \"cache\" is\ncold, `, 14),
		"wide":    strings.Repeat("der Zähler läuft über, ", 13),
		"han":     strings.Repeat("缓存是冷的，计数器溢出了。", 9),
	} {
		text := []byte(`{"thought":"` + text + `","nextThoughtNeeded":true,"thoughtNumber":12,"totalThoughts":20}`)
		for mode, scan := range modes {
			b.Run(name+"/"+mode, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					s := scan(text, 64)
					for s.Object(); s.Member(); {
						s.Value()
					}
					if err := s.End(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestLoneSurrogate(t *testing.T) {
	for text, want := range map[string]bool{
		`"a"`: false, `"\ud83e\uddf5"`: false, `"\\ud800"`: false, `"\ufffd"`: false, `"\n\u0041"`: false,
		`"\ud800"`: true, `"\udc00"`: true, `"\udc00\ud800"`: true, `"\ud83e\uddf5\ud83e"`: true, `"\\\ud800"`: true, `{"\ud800":1}`: true,
		`["\ud800","a"]`: true,
	} {
		s := jsonscan.New([]byte(text), 8)
		s.Value()
		if err := s.End(); err != nil || s.LoneSurrogate() != want {
			t.Errorf("%s: got %v and %v, want %v", text, s.LoneSurrogate(), err, want)
		}
	}
}
