package vault

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

func TestParseNote(t *testing.T) {
	tests := []struct {
		name, data string
		front      string // its text
		body       string
		keys       []string
		damaged    bool
	}{
		{"none", "# Title\n", "", "# Title\n", nil, false},
		{"empty file", "", "", "", nil, false},
		{"plain", "---\na: 1\nb: x # c\n---\nbody", "a: 1\nb: x # c\n", "body", []string{"a", "b"}, false},
		{"nothing between", "---\n---\nbody", "", "body", nil, false},
		{"comments alone", "---\n# todo\n---\n", "# todo\n", "", nil, false},
		{"no body", "---\na: 1\n---", "a: 1\n", "", []string{"a"}, false},
		{"not closed", "---\na: 1\n", "", "---\na: 1\n", nil, false},
		{"not at the start", "\n---\na: 1\n---\n", "", "\n---\na: 1\n---\n", nil, false},
		{"longer rule", "----\na: 1\n----\n", "", "----\na: 1\n----\n", nil, false},
		{"spaces after the fences", "---  \na: 1\n--- \nx", "a: 1\n", "x", []string{"a"}, false},
		{"CRLF", "---\r\na: 1\r\n---\r\nbody\r\n", "a: 1\n", "body\n", []string{"a"}, false},
		{"CRLF and LF", "---\r\na: 1\n---\r\nbody\r\n", "a: 1\n", "body\r\n", []string{"a"}, false},
		{"byte order mark", "\uFEFF---\na: 1\n---\nx", "a: 1\n", "x", []string{"a"}, false},
		{"rule in the body", "---\na: 1\n---\nx\n---\ny\n", "a: 1\n", "x\n---\ny\n", []string{"a"}, false},
		{"a list", "---\n- a\n---\n", "- a\n", "", nil, true},
		{"a text", "---\njust words\n---\n", "just words\n", "", nil, true},
		{"open bracket", "---\na: [1\n---\n", "a: [1\n", "", nil, true},
		{"tab", "---\na:\n\tb: 1\n---\n", "a:\n\tb: 1\n", "", nil, true},
		{"flow", "---\n{a: 1, b: [x]}\n---\n", "{a: 1, b: [x]}\n", "", []string{"a", "b"}, false},
		{"unknown alias", "---\na: *x\n---\n", "a: *x\n", "", nil, true},
		{"not UTF-8", "---\na: \xff\n---\n\xfe", "a: \xff\n", "\xfe", nil, true},
		{"too long", "---\na: " + strings.Repeat("x", maxFrontBytes) + "\n---\n", "a: " + strings.Repeat("x", maxFrontBytes) + "\n", "", nil, true},
		{"deep", "---\na: " + strings.Repeat("[", 20_000) + "\n---\n", "a: " + strings.Repeat("[", 20_000) + "\n", "", nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := ParseNote("memory://x.md", []byte(tt.data))
			if n.Front.Text() != tt.front || n.Body != tt.body || !slices.Equal(n.Front.Keys(), tt.keys) || (n.Front.Err() != nil) != tt.damaged {
				t.Errorf("%.200q: front %.200q %q %v, body %q", tt.data, n.Front.Text(), n.Front.Keys(), n.Front.Err(), n.Body)
			}
			if got := string(n.Bytes()); got != tt.data {
				t.Errorf("%.200q came back as %.200q", tt.data, got)
			}
			if tt.damaged {
				for _, err := range []error{n.Front.Err(), n.Front.Set("a", "b"), n.Front.Set("a", nil)} {
					if sequent.CodeOf(err) != CodeFrontMatter {
						t.Errorf("damaged: %v", err)
					}
				}
				if got := string(n.Bytes()); got != tt.data {
					t.Errorf("%.200q became %.200q", tt.data, got)
				}
			}
		})
	}
}

func TestFrontValues(t *testing.T) {
	n := ParseNote("", []byte(`---
plain: some words
quoted: "a: b"
number: 007
empty:
nothing: null
date: 2025-08-31T03:22:26.730Z
tags: [a, "b c", 3]
block:
  - x
  - - nested
links:
  - [[One]]
  - "[[Two]]"
parent: [[workflow/w]]
base: &b word
alias: *b
map: {x: 1}
folded: >
  two
  lines
---
`))
	for key, want := range map[string]string{
		"plain": "some words", "quoted": "a: b", "number": "007", "empty": "", "nothing": "", "date": "2025-08-31T03:22:26.730Z",
		"tags": "", "alias": "word", "map": "", "folded": "two lines\n", "none": "",
	} {
		if got := n.Front.Get(key); got != want {
			t.Errorf("Get(%s) = %q, want %q", key, got, want)
		}
	}
	for key, want := range map[string][]string{
		"tags": {"a", "b c", "3"}, "block": {"x"}, "links": {"[[One]]", "[[Two]]"}, "parent": {"[[workflow/w]]"}, "plain": {"some words"},
		"empty": nil, "map": nil, "none": nil,
	} {
		if got := n.Front.List(key); !slices.Equal(got, want) {
			t.Errorf("List(%s) = %q, want %q", key, got, want)
		}
	}
}

// Setting a key changes only the lines of the key.
func TestFrontEdits(t *testing.T) {
	set := func(key, value string) func(*Front) error {
		return func(f *Front) error { return f.Set(key, value) }
	}
	refused := func(edit func(*Front) error) func(*Front) error {
		return func(f *Front) error {
			if err := edit(f); sequent.CodeOf(err) != CodeFrontMatter {
				return fmt.Errorf("it is changed: %v", err)
			}
			return nil
		}
	}
	tests := []struct {
		name, before string
		edit         func(*Front) error
		after        string
	}{
		{"a new note", "", set("title", "One"), "---\ntitle: One\n---\n"},
		{"a note without front matter", "text", set("title", "One"), "---\ntitle: One\n---\ntext"},
		{"empty front matter", "---\n---\nx", set("a", "1"), "---\na: \"1\"\n---\nx"},
		{"another key", "---\n# first\nb:   2  # two\n\nlist:\n- x\n---\n", set("a", "x"), "---\n# first\nb:   2  # two\n\nlist:\n- x\na: x\n---\n"},
		{"in the middle", "---\na: 1\nb: old # why\n# of c\nc: 3\n---\n", set("b", "new"), "---\na: 1\nb: new\n# of c\nc: 3\n---\n"},
		{"over several lines", "---\na: |\n  one\n\n  two\n\nb: 1\n---\n", set("a", "x"), "---\na: x\n\nb: 1\n---\n"},
		{"a list", "---\na:\n- 1\n- 2\nb: 1\n---\n", set("a", "x"), "---\na: x\nb: 1\n---\n"},
		{"the last", "---\na: 1\nb: 2\n# the end\n---\n", set("b", "3"), "---\na: 1\nb: \"3\"\n# the end\n---\n"},
		{"CRLF", "---\r\na: 1\r\nb: 2\r\n---\r\nx", set("a", "z"), "---\r\na: z\r\nb: 2\r\n---\r\nx"},
		{"what it is already", "---\na:   'x'   # so\n---\n", set("a", "x"), "---\na:   'x'   # so\n---\n"},
		{"a link", "---\na: 1\n---\n", set("p", "[[workflow/w]]"), "---\na: 1\np: \"[[workflow/w]]\"\n---\n"},
		{"quotes and breaks", "", set("a", "say \"x\"\nand: y"), "---\na: \"say \\\"x\\\"\\nand: y\"\n---\n"},
		{"yes and numbers stay texts", "", set("a", "yes"), "---\na: \"yes\"\n---\n"},
		{"a key with a colon", "", set("a: b", "c"), "---\n\"a: b\": c\n---\n"},
		{"a number", "---\nb: 1\n---\n", func(f *Front) error { return f.Set("b", 2) }, "---\nb: 2\n---\n"},
		{"several", "", func(f *Front) error { return f.SetAll("a", "x", "b", 2, "c", nil) }, "---\na: x\nb: 2\n---\n"},
		{"in one line", "---\n{a: 1, b: [x]}\n---\nx", refused(set("a", "z")), "---\n{a: 1, b: [x]}\n---\nx"},
		{"in one line, a new key", "---\n{a: 1}\n---\nx", refused(set("b", "z")), "---\n{a: 1}\n---\nx"},
		{"a time", "", func(f *Front) error {
			return f.Set("at", time.Date(2025, 8, 31, 5, 22, 26, 730_400_000, time.FixedZone("", 7200)))
		}, "---\nat: 2025-08-31T03:22:26.730Z\n---\n"},
		{"a list of texts", "---\na: 1\n---\n", func(f *Front) error { return f.Set("a", []string{"x", "[[y]]"}) }, "---\na:\n  - x\n  - \"[[y]]\"\n---\n"},
		{"an empty list", "", func(f *Front) error { return f.Set("a", []string{}) }, "---\na: []\n---\n"},
		{"removed", "---\na: 1\nb:\n  x: 1\n  y: 2\nc: 3\n---\n", func(f *Front) error { return f.Set("b", "") }, "---\na: 1\nc: 3\n---\n"},
		{"removed, the only one", "---\na: 1\n---\nx", func(f *Front) error { return f.Set("a", "") }, "---\n---\nx"},
		{"removed, not there", "---\na: 1\n---\nx", func(f *Front) error { return f.Set("b", "") }, "---\na: 1\n---\nx"},
		{"a value that is used elsewhere", "---\na: &x one\nb: *x\n---\n", refused(set("a", "two")), "---\na: &x one\nb: *x\n---\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := ParseNote("", []byte(tt.before))
			if err := tt.edit(&n.Front); err != nil {
				t.Fatal(err)
			}
			if got := string(n.Bytes()); got != tt.after {
				t.Errorf("got\n%s\nwant\n%s", got, tt.after)
			}
		})
	}
}

func FuzzNote(f *testing.F) {
	for _, seed := range []string{
		"", "---\n---\n", "---\na: 1\n---\nx", "\uFEFF---\r\na: 1\r\nb: [x]\r\n---\r\n", "---\n{a: 1}\n---\n", "---\na: |\n  x\n# c\nb: &x 1\nc: *x\n---\n",
		"---\n? a\n: b\n---\n", "---\na: 1\na: 2\n---\n", "---\n!!map {a: b}\n---\n", "---\n<<: {a: 1}\n---\n", "---\n%YAML 1.1\n---\n", "---\n'a': 1\n\"b\": 2\n---\n",
	} {
		f.Add(seed, "a", "value")
	}
	f.Fuzz(func(t *testing.T, data, key, value string) {
		n := ParseNote("memory://x.md", []byte(data))
		if got := string(n.Bytes()); got != data {
			t.Fatalf("%q came back as %q", data, got)
		}
		keys := n.Front.Keys()
		err := n.Front.Set(key, value)
		if err != nil {
			if got := string(n.Bytes()); got != data {
				t.Fatalf("%q became %q although %v", data, got, err)
			}
			return
		}
		again := ParseNote("memory://x.md", n.Bytes())
		lf := strings.NewReplacer("\r\n", "\n")
		if lf.Replace(again.Body) != lf.Replace(n.Body) || again.Front.Err() != nil || again.Front.Get(key) != n.Front.Get(key) || n.Front.Get(key) != value && value != "" {
			t.Fatalf("%q with %q: %q became %q, which says %q", data, key, value, n.Bytes(), again.Front.Get(key))
		}
		for _, k := range keys {
			if again.Front.find(k) == nil && k != "" && k != key {
				t.Fatalf("%q has lost %q: %q", data, k, n.Bytes())
			}
		}
	})
}
