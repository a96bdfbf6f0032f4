package classic

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/clipperhouse/displaywidth"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/tool"
)

func TestDrawingWidthAndColour(t *testing.T) {
	var out bytes.Buffer
	width := 30
	d := drawing{out: &out, colour: true, width: func() int { return width }}
	tests := []struct {
		width int
		a     args
		want  string
	}{
		{30, args{Thought: "a text that is too long for thirty columns", Number: 1, Total: 2}, `
┌─────────────────────────┐
│ ` + "\x1b[34m💭 Thought\x1b[39m" + ` 1/2          │
├─────────────────────────┤
│ a text that is too long │
│ for thirty columns      │
└─────────────────────────┘
`},
		{1, args{Thought: "日本語日本語日本語日本語", Number: 1, Total: 2, IsRevision: new(true), Revises: new(count(1))}, `
┌──────────────────┐
│ ` + "\x1b[33m🔄 Revision\x1b[39m" + ` 1/2  │
│ (revising        │
│ thought 1)       │
├──────────────────┤
│ 日本語日本語日本 │
│ 語日本語         │
└──────────────────┘
`},
		{0, args{Thought: "x", Number: 1, Total: 2, From: new(count(1)), Branch: new("\x1b[0m")}, `
┌──────────────────────────────────────────┐
│ ` + "\x1b[32m🌿 Branch\x1b[39m" + ` 1/2 (from thought 1, ID: ␛[0m) │
├──────────────────────────────────────────┤
│ x                                        │
└──────────────────────────────────────────┘
`},
	}
	for _, tt := range tests {
		out.Reset()
		width = tt.width
		d.thought(tt.a)
		if got := out.String(); got != tt.want {
			t.Errorf("width %d: got\n%s\nwant\n%s", tt.width, got, tt.want)
		}
	}
}

// A drawing that cannot be written does not refuse the thought.
func TestDrawingFails(t *testing.T) {
	d := New(Config{Engine: sequent.New(sequent.Config{}), Drawing: closed{}})
	r, err := d.Tools[0].Call(t.Context(), tool.Call{
		Args:   []byte(`{"thought":"a","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":true}`),
		Caller: tool.Caller{Scope: tool.Scope{Name: "a"}},
	})
	if err != nil || r.Failed {
		t.Errorf("got %+v, %v", r, err)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errors.New("closed") }

// For any text the box has straight sides, keeps to the width and sends only characters
// to the terminal. No word is lost.
func FuzzBox(f *testing.F) {
	for _, s := range []string{
		"", " ", "a b", "a\tb", "\t\t", "\x1b[2J\x07", "日本語", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "e\u0301\u0301", "\u0301", "\u202e", "a\r\nb\rc\u2028d",
		strings.Repeat("x", 300), strings.Repeat("x ", 300), strings.Repeat("🇩🇪", 50), "\u200d\u200d", "\u00ad", "\xff", "क्षि", "️⃣1️⃣", "﷽",
		"\uff9f", "\uff76\uff9e\uff8a\uff9f", strings.Repeat("\uff76\uff9e", 50), "\U0001f3fb",
	} {
		f.Add(s, 40)
	}
	f.Fuzz(func(t *testing.T, text string, columns int) {
		columns = max(minWidth, min(columns, 200))
		text = strings.ToValidUTF8(text, "\uFFFD")
		out := box(plain, " 1/1", text, columns, false)
		rows := strings.Split(strings.Trim(out, "\n"), "\n")
		width := terminalColumns(rows[0])
		if width > columns {
			t.Errorf("the box has %d columns of %d", width, columns)
		}
		for _, row := range rows {
			if got := terminalColumns(row); got != width {
				t.Errorf("a row has %d columns, the box %d: %q\ntext %q\n%s", got, width, row, text, out)
			}
			for _, r := range row {
				if unicode.In(r, unicode.Cc, unicode.Cf) && !unicode.In(r, unicode.Join_Control) {
					t.Errorf("the box holds %U", r)
				}
			}
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) {
					return r
				}
				return -1
			}, s)
		}
		body := strings.Join(rows[3:len(rows)-1], "")
		if got, want := letters(body), letters(printable.Text(text)); got != want {
			t.Errorf("the box has the letters %q, want %q", got, want)
		}
	})
}

// terminalColumns measures a row as a terminal does: the halfwidth katakana sound marks
// take a column each, although Unicode counts them to the character before them.
func terminalColumns(row string) int {
	marks := 0
	rest := strings.Map(func(r rune) rune {
		if r == '\uff9e' || r == '\uff9f' {
			marks++
			return -1
		}
		return r
	}, row)
	return displaywidth.String(rest) + marks
}
