package draw_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/draw"
)

var update = flag.Bool("update", false, "write the drawings anew")

// begun is the time of every session of these tests.
var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func session(t testing.TB, drafts ...sequent.Draft) *sequent.Session {
	t.Helper()
	e := sequent.New(sequent.Config{Now: func() time.Time { return begun }})
	s, err := e.Begin(t.Context(), "7k3m9q2xw4ht", func(c *sequent.Change) error {
		c.BeginIn("", "standard")
		for _, d := range drafts {
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each file of testdata has drafts, one JSON object a line, and drawings of them in
// sections named by the options, such as "40 ascii".
func TestDrawings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := session(t, drafts(t, ar.Files[0])...)
			for i, f := range ar.Files[1:] {
				o := options(t, f.Name)
				d := draw.Session(s, o)
				got := draw.Plain(d.Lines)
				checkRows(t, d, o)
				if *update {
					ar.Files[i+1].Data = []byte(got)
				} else if want := strings.ReplaceAll(string(f.Data), "\r\n", "\n"); got != want {
					t.Errorf("%s, section %q: got\n%s\nwant\n%s", file, f.Name, got, want)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func drafts(t testing.TB, f txtar.File) []sequent.Draft {
	t.Helper()
	var list []sequent.Draft
	for line := range strings.Lines(string(f.Data)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var d struct {
			sequent.Draft
			Repeat int // number of repetitions of the text
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&d); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		d.Text = strings.Repeat(d.Text, max(d.Repeat, 1))
		list = append(list, d.Draft)
	}
	return list
}

func options(t testing.TB, name string) draw.Options {
	t.Helper()
	o := draw.Options{Now: begun.Add(5 * time.Minute)}
	for word := range strings.FieldsSeq(name) {
		switch n, err := strconv.Atoi(word); {
		case err == nil:
			o.Width = n
		case word == "full":
			o.Full = true
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	return o
}

// checkRows checks the rules for all drawings.
func checkRows(t testing.TB, d draw.Drawing, o draw.Options) {
	t.Helper()
	for i, line := range d.Lines {
		text := strings.TrimSuffix(draw.Plain([]draw.Line{line}), "\n")
		if n := draw.Width(text); n > max(o.Width, 30) {
			t.Errorf("row %d is %d columns wide, more than %d: %q", i, n, o.Width, text)
		}
		for _, r := range text {
			if r < ' ' || r >= 0x7F && r < 0xA0 {
				t.Errorf("row %d holds %U: %q", i, r, text)
			}
		}
	}
}

func TestNothingIsLost(t *testing.T) {
	var list []sequent.Draft
	for i := range 300 {
		d := sequent.Draft{Number: i + 1, Text: fmt.Sprintf("word%d.", i)}
		if i%7 == 6 {
			d.Branch, d.From = fmt.Sprintf("b%d", i%35), sequent.To(i/2+1)
		}
		list = append(list, d)
	}
	s := session(t, list...)
	folded := draw.Session(s, draw.Options{Width: 60})
	if !folded.Folded || len(folded.Lines) > 200 {
		t.Errorf("300 thoughts are drawn in %d rows, folded: %v", len(folded.Lines), folded.Folded)
	}
	full := draw.Session(s, draw.Options{Width: 60, Full: true})
	text := draw.Plain(full.Lines)
	if full.Folded {
		t.Error("a full drawing says that it is folded")
	}
	for i := range list {
		if !strings.Contains(text, fmt.Sprintf("word%d.", i)) {
			t.Errorf("thought %d is not in the full drawing", i+1)
		}
		if _, ok := full.Rows[i+1]; !ok {
			t.Errorf("Rows lacks thought %d", i+1)
		}
	}
}

func TestStyledSaysTheSame(t *testing.T) {
	s := session(t,
		sequent.Draft{Number: 1, Total: 3, Text: "One \x1b[31mred\x1b[0m"},
		sequent.Draft{Number: 2, Total: 3, Text: "Two", Revises: sequent.To(1)},
		sequent.Draft{Number: 3, Total: 3, Text: "Three", Branch: "b", From: sequent.To(2), Final: true},
	)
	d := draw.Session(s, draw.Options{Width: 60, Newest: 3})
	styled := draw.Styled(d.Lines)
	if !strings.Contains(styled, "\x1b[") {
		t.Errorf("no style in %q", styled)
	}
	if strings.Contains(styled, "\x1b[31mred") {
		t.Errorf("a thought's escape sequence is in %q", styled)
	}
	plain := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(styled, "")
	if want := draw.Plain(d.Lines); plain != want {
		t.Errorf("without its style it is\n%q\nwant\n%q", plain, want)
	}
}

func TestMarked(t *testing.T) {
	text := "the pool of connections is the bottleneck, not the pool of workers"
	lines := draw.Marked(text, [][2]int{{4, 8}, {51, 55}}, draw.Options{Width: 30}, 2)
	var got strings.Builder
	for _, l := range lines {
		for _, s := range l {
			if s.Role == draw.Match {
				s.Text = "<" + s.Text + ">"
			}
			got.WriteString(s.Text)
		}
		got.WriteByte('\n')
	}
	want := "  the <pool> of connections is\n  the bottleneck, not the <pool>\n  of workers\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func FuzzSession(f *testing.F) {
	f.Add("one\ntwo", "b", 40)
	f.Add("\u202e🁩\u200d👩", "0", 30) // a row ends after a joiner
	f.Add("漢字かな交じり文\x1b[2J\u202e👩‍👩‍👧‍👦e\u0301", "a/b", 30)
	f.Fuzz(func(t *testing.T, text, branch string, width int) {
		e := sequent.New(sequent.Config{})
		s, err := e.Begin(t.Context(), "x", func(c *sequent.Change) error {
			for i := range 4 {
				d := sequent.Draft{Number: i + 1, Text: text, Final: i >= 3, Revises: sequent.To(i % 2)}
				if i > 0 {
					d.Branch, d.From = branch+strings.Repeat("x", i/2), sequent.To(i)
				}
				if _, err := c.Append(d); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Skip() // the engine refuses it
		}
		o := draw.Options{Width: width % 300}
		d := draw.Session(s, o)
		if o.Width == 0 {
			o.Width = 80
		}
		checkRows(t, d, o)
	})
}
