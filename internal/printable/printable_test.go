package printable_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/sequent-dev/sequent/internal/printable"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"plain é 日本 😀\n\tend":    "plain é 日本 😀\n\tend",
		"a\r\nb\rc":              "a\nb\nc",
		"a\u0085b\u2028c\u2029d": "a\nb\nc\nd",
		"\x00\x1b[1m\x7f":        "␀␛[1m␡",
		"\u009b\ufeff\xff":       "⟨U+009B⟩⟨U+FEFF⟩\ufffd",
		// marks of direction, no width, tags, fillers
		"a\u200e\u200f\u061cb":       "a⟨U+200E⟩⟨U+200F⟩⟨U+061C⟩b",
		"\u202aa\u202e\u2066b\u2069": "⟨U+202A⟩a⟨U+202E⟩⟨U+2066⟩b⟨U+2069⟩",
		"pass\u200b\u2060\u00adword": "pass⟨U+200B⟩⟨U+2060⟩⟨U+00AD⟩word",
		"ok\U000e0041\U000e007f":     "ok⟨U+E0041⟩⟨U+E007F⟩",
		"\u115f\u1160\u3164\uffa0":   "⟨U+115F⟩⟨U+1160⟩⟨U+3164⟩⟨U+FFA0⟩",
		// joiners and selectors, where writing needs them and where not
		"👩‍👩‍👧‍👦 ❤️ 1️⃣ 👩🏽‍🚒 🏴‍☠️ ©️": "👩‍👩‍👧‍👦 ❤️ 1️⃣ 👩🏽‍🚒 🏴‍☠️ ©️",
		"می\u200cخواهم क्\u200dष":     "می\u200cخواهم क्\u200dष",
		"葛\U000e0100飾":                "葛\U000e0100飾",
		"a\u200db\u200cc":             "a⟨U+200D⟩b⟨U+200C⟩c",
		"a\ufe0f😀\ufe0f\ufe0f":        "a⟨U+FE0F⟩😀\ufe0f⟨U+FE0F⟩",
		"😀\U000e0100\U000e0101":       "😀⟨U+E0100⟩⟨U+E0101⟩",
		"😀\u200d":                     "😀⟨U+200D⟩",
		"م\u200c\u200c\u200dم":        "م⟨U+200C⟩⟨U+200C⟩⟨U+200D⟩م",
	} {
		if got := printable.Text(text); got != want {
			t.Errorf("%+q: got %+q, want %+q", text, got, want)
		}
		if got := printable.Text(want); got != want {
			t.Errorf("%+q is not left as it is: %+q", want, got)
		}
	}
}

func TestLine(t *testing.T) {
	if got := printable.Line(" a\tb\r\n\u202ec\u2028d "); got != "a b ⟨U+202E⟩c d" {
		t.Errorf("got %q", got)
	}
}

// JSON has the same value and no character that Hidden reports.
func TestJSON(t *testing.T) {
	for r := range rune(unicode.MaxRune) {
		if r < 0x7f || r > 0x2029 && !printable.Hidden(r) {
			continue
		}
		text := `"` + string(r) + `"`
		got := string(printable.JSON([]byte(text)))
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != string(r) {
			t.Fatalf("%U: %s, %v", r, got, err)
		}
		if strings.ContainsFunc(got, printable.Hidden) {
			t.Fatalf("%U: %s has it", r, got)
		}
	}
	if got := string(printable.JSON([]byte("{\n\t\"a\": \"\xff\u202e\"}\n"))); got != "{\n\t\"a\": \"\xff\\u202e\"}\n" {
		t.Errorf("got %q", got)
	}
}

func TestShort(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 3, "äö…"}, {"a bc", 3, "a…"}} {
		if got := printable.Short(tt.text, tt.n); got != tt.want {
			t.Errorf("Short(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\u202e\r\n👩‍👩\ufe0f\xff")
	f.Fuzz(func(t *testing.T, text string) {
		shown := printable.Text(text)
		if again := printable.Text(shown); again != shown {
			t.Errorf("%+q: %+q, then %+q", text, shown, again)
		}
	})
}
