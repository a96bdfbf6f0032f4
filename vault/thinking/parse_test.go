package thinking

import (
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/vault/wikilink"
)

// texts are hard to write into a section.
var texts = []string{
	"plain [[link]]", "two\n\nparagraphs", "trailing  \nspaces", " leading", "ends in a break\n", "\n", " ",
	"## Thought 3/5 [agent]\n\nnested", "text\n\n## Conclusion\n\nmine", "a\n## Session Abandoned", "# Top\n## Own heading",
	"*2025-01-02 03:04:05 UTC*", "*2025-01-02 03:04:05 UTC* ^thought-9", "see ^thought-3", "^thought-3", "x ^conclusion-1  ",
	"_2025-01-02 03:04:05 UTC_", "_2025-01-02 03:04:05 UTC_ ^thought-9", "_Thoughts: mine_", "_Thoughts: _",
	"*Thoughts: mine*", "*Thoughts: *", "> [!quote] As written", "> [!quote] As written\n> x", "> [!note] Thoughts\n> x",
	"[!note] Thoughts\n<!-- open", "[!quote] As written\n```",
	"```go\nopen", "```\nclosed\n```", "~~~\n```\n~~~", "> ```\n\n```\ncode", "- ```\n\n```\ncode", "1. x\n   ```\ncode\n   ```\n", "1. x\n   ```\n   code\n   ```",
	"    ```\n    indented\n    ```", "`` ` ``", "```inline```", "<!-- open", "<script>", "%% open", "$$ open", "$$ a $$",
	"---", "title\n---", "---\nkey: value\n---", "[a]: http://x", "\u2028line", "日本語の[[考え]]", "🧠", "\\", "|a|b|\n|-|-|",
}

func TestSectionsComeBack(t *testing.T) {
	at := time.Date(2025, 8, 31, 3, 22, 26, 0, time.UTC)
	drafts := []sequent.Draft{
		{Number: 0, Total: 5},
		{Number: -3, Total: 0, Extend: true},
		{Number: 3, Total: 5, Branch: "T-2.1.2-swe", From: sequent.To(2)},
		{Number: 3, Total: 5, Branch: "a (b), from 3) `x` [[y]] (Revises: 2)", From: sequent.To(2), Revision: true, Revises: sequent.To(0)},
		{Number: 3, Total: 5, Branch: "only", Revision: true},
		{Number: 3, Total: 5, From: sequent.To(7)},
	}
	for k, d := range drafts {
		for j, agent := range []string{"agent", "a] (Branch: x) [b", "line\nbreak", "`", " "} {
			for i, text := range texts {
				text = printable.Text(text)
				if j > 0 && i%5 != j || k > 0 && i%len(drafts) != k {
					continue // any text will do
				}
				for _, conclusion := range []string{"", printable.Text(texts[len(texts)-1-i])} {
					d.Text, d.Note, d.Final = text, printable.Text(texts[(i+7)%len(texts)]), conclusion != ""
					d.Labels = map[string]string{LabelAgent: agent}
					if conclusion != "" {
						d.Labels[LabelConclusion] = conclusion
					}
					checkRoundTrip(t, sequent.Thought{Draft: d, Seq: 12, At: at})
				}
			}
		}
	}
}

func checkRoundTrip(t *testing.T, th sequent.Thought) {
	t.Helper()
	text := "\n# Title\n" + render(th, th.Labels[LabelConclusion])
	list := Sections(text + "\nA person's words.\n" + "\n## Thought 9/9 [other]\n\nnext\n")
	if len(list) != 2 {
		t.Fatalf("%d sections in %s", len(list), text)
	}
	if got := list[0]; !same(got, th) || got.Seq != th.Seq || !got.At.Equal(th.At) {
		t.Fatalf("got  %+v\nwant %+v\nin %s", got, th, text)
	}
	if list[1].Draft.Text != "next" || list[1].Draft.Labels[LabelAgent] != "other" {
		t.Fatalf("the next section is %+v", list[1])
	}
	// Nothing in the text affects the next section.
	links := wikilink.Parse([]byte(text + "\n## Thought 9/9 [other]\n\nSee [[what comes next]].\n"))
	if len(links) == 0 || links[len(links)-1].Target != "what comes next" {
		t.Fatalf("the text swallows what follows:\n%s", text)
	}
	// Editors may remove spaces at line ends and change line breaks.
	if got := Sections(strings.ReplaceAll(text, "\n", "\r\n")); len(got) != 1 || !same(got[0], th) {
		t.Fatalf("with CRLF: %+v\nin %q", got, text)
	}
}

// same reports whether a section says what a thought says.
func same(s Section, th sequent.Thought) bool {
	a, b := s.Draft, th.Draft
	return a.Number == b.Number && a.Total == b.Total && a.Text == b.Text && a.Note == b.Note && a.Branch == b.Branch &&
		a.From == b.From && a.Revises == b.Revises && a.Revision == b.Revision && a.Final == b.Final && a.Extend == b.Extend &&
		a.Labels[LabelAgent] == b.Labels[LabelAgent] && a.Labels[LabelConclusion] == b.Labels[LabelConclusion]
}

// Formatters of Markdown write _this_ for *this*.
func TestFormatted(t *testing.T) {
	at := time.Date(2025, 8, 31, 3, 22, 26, 0, time.UTC)
	th := sequent.Thought{Seq: 1, At: at, Draft: sequent.Draft{Text: "Why [[x]]?", Note: "Hm, so.", Final: true}}
	body := strings.NewReplacer("*2025", "_2025", "UTC*", "UTC_", "*Thoughts", "_Thoughts", "so.*", "so._").Replace(render(th, "It is [[y]]."))
	list := Sections(body)
	if len(list) != 1 || list[0].Seq != 1 || !list[0].At.Equal(at) || list[0].Draft.Text != th.Text ||
		list[0].Draft.Note != "Hm, so." || list[0].Draft.Labels[LabelConclusion] != "It is [[y]]." {
		t.Errorf("%q\nis read as %+v", body, list)
	}
}

// In the file of another program thoughts have no ids, but a conclusion may have one.
func TestConclusionOfAThoughtWithoutID(t *testing.T) {
	const body = "## Thought 0/2 [agent]\n\n[[a]]\n\n*2026-03-15 15:09:28 UTC*\n\n## Thought 1/2 [agent]\n\n[[b]]\n\n*2026-03-15 15:10:28 UTC*\n\n" +
		"## Conclusion\n\n[[c]] it is.\n\n*2026-03-15 15:10:28 UTC* ^conclusion-2\n"
	list := Sections(body)
	if len(list) != 2 || list[0].Draft.Labels[LabelConclusion] != "" || list[1].Draft.Labels[LabelConclusion] != "[[c]] it is." {
		t.Errorf("got %+v", list)
	}
}

func FuzzSection(f *testing.F) {
	for i, text := range texts {
		f.Add(text, texts[(i+1)%len(texts)], texts[(i+2)%len(texts)], texts[(i+3)%len(texts)], i, i*7, i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, text, note, conclusion, branch string, number, total int, revision bool) {
		if int(int32(number)) != number || int(int32(total)) != total || total < 0 {
			return
		}
		for _, s := range []*string{&text, &note, &conclusion, &branch} {
			*s = printable.Text(strings.ToValidUTF8(*s, "?"))
		}
		d := sequent.Draft{Number: number, Total: total, Text: text, Note: note, Branch: branch, Revision: revision, Final: conclusion != ""}
		d.Labels = map[string]string{LabelAgent: "agent"}
		if branch != "" {
			d.From = sequent.To(number - 1)
		}
		if conclusion != "" {
			d.Labels[LabelConclusion] = conclusion
		}
		checkRoundTrip(t, sequent.Thought{Draft: d, Seq: 12, At: time.Unix(1_700_000_000, 0).UTC()})
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add("## Thought 1/2 [agent]\n\n" + text + "\n\n*2025-01-02 03:04:05 UTC* ^thought-1\n" + text)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, body string) {
		end := 0
		for _, s := range Sections(body) {
			if s.Start < end || s.Heading < s.Start || s.End < s.Start || s.End > len(body) {
				t.Fatalf("a section from %d to %d after %d in %q", s.Start, s.End, end, body)
			}
			end = s.Start + 1
			if s.Draft.Labels == nil {
				t.Fatalf("a section without labels in %q", body)
			}
		}
	})
}
