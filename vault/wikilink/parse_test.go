package wikilink_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/vault/wikilink"
)

// say formats links as in the table below.
func say(text string, links []wikilink.Link) string {
	var out []string
	for _, l := range links {
		s := l.Target
		if l.Fragment != "" {
			s += " #" + l.Fragment
		}
		if l.Alias != "" {
			s += " |" + l.Alias
		}
		if l.Embed {
			s = "!" + s
		}
		covered := text[l.Start:l.Stop]
		if !strings.HasPrefix(strings.TrimPrefix(covered, "!"), "[[") || !strings.HasSuffix(covered, "]]") ||
			strings.HasPrefix(covered, "!") != l.Embed {
			s += " AT " + covered
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		// spellings of a target
		{"plain text", ""}, {"", ""}, {"see [[target]].", "target"}, {"[[b]][[a]]", "b; a"}, {"[[a]] [[a]]", "a; a"},
		{"[[ Rate Limiting ]]", "Rate Limiting"}, {"[[workflow/workflow-17]]", "workflow/workflow-17"},
		{"«[[Ångström]]», [[思考链]], [[👩‍💻]]", "Ångström; 思考链; 👩‍💻"}, {"在[[思考链]]中", "思考链"},
		{"[[C++]] [[don't]] [[a & b]] [[x@y.z]] [[1,2]]", "C++; don't; a & b; x@y.z; 1,2"}, {"\xff[[a\xff]]\xff", "a\xff"},
		{"[[a]]\r\n[[b]]\r\n", "a; b"},
		// parts
		{"[[target|shown]]", "target |shown"}, {"[[ target | shown so ]]", "target |shown so"},
		{"[[target|a|b]]", "target |a|b"}, {`[[target\|shown]]`, "target |shown"}, {"[[target|]]", "target"},
		{"[[note#Some Heading]]", "note #Some Heading"}, {"[[note#h|shown]]", "note #h |shown"},
		{"[[note#^37066d]]", "note #^37066d"}, {"[[#heading]]", " #heading"}, {"![[image.png|100]]", "!image.png |100"},
		{"![[note#^b]]", "!note #^b"}, {"! [[a]]", "a"},
		// what is no link
		{"[[]]", ""}, {"[[|shown]]", ""}, {"[[#]] [[/]] [[_-_]] [[|]]", ""}, {"[target]", ""}, {"[[target", ""},
		{"[[target] ]", ""}, {"[[a [[b]] c]]", "b"}, {"[[a[b]c]]", ""}, {"[[[a]]]", ""}, {"[[[a]]", ""},
		{"[[[a]]] [[b]]", "b"}, {"[[a and [[b]]", "b"}, {"[[two\nlines]]", ""}, {"[[two\r\nlines]]", ""},
		{"> [[two\n> lines]]", ""}, {"[[open\n[[b]]", "b"},
		// escapes
		{`\[[a]]`, ""}, {`[\[a]]`, ""}, {`[[a\]]`, ""}, {`[[a]\]`, ""}, {`\\[[a]]`, "a"}, {`\![[a]]`, "a"}, {`\[[[a]]`, "a"},
		{`[[C:\notes]]`, `C:\notes`},
		// code
		{"`[[a]]` [[b]]", "b"}, {"``[[a]] ` ``", ""}, {"`x\n[[a]]` [[b]]", "b"}, {"` [[a]]", "a"}, {"[[`a`]]", ""},
		{"[[a `]]` b", ""}, {"[[a `b`]]", ""}, {"```\n[[a]]\n```\n[[b]]", "b"}, {"```md\n[[a]]\n```", ""},
		{"~~~\n[[a]]\n```\n[[b]]\n~~~\n[[c]]", "c"}, {"```\n[[a]]", ""}, {"- x\n\n  ```\n  [[a]]\n  ```\n  [[b]]", "b"},
		{"> ```\n> [[a]]\n> ```\n> [[b]]", "b"}, {"``` [[a]]\nx\n```", ""}, {"x\n\n    [[a]]\n\n[[b]]", "b"},
		{"\t[[a]]", ""}, {"x\n    [[a]]", "a"},
		// what is text here, though not in CommonMark or a table
		{"<!-- [[a]] --> <b title=\"[[b]]\">[[c]]</b>", "a; b; c"}, {"[x](y \"[[a]]\") [[b]]", "a; b"},
		{"| a | b |\n|---|---|\n| [[x|y]] |", "x |y"},
		// blocks
		{"# On [[a]]\n\nUnder [[b]]\n---", "a; b"}, {"- [[a]]\n  1. [[b]]\n- [ ] [[c]]\n* [x] [[d]]", "a; b; c; d"},
		{"> [[a]]\n> > [[b]]", "a; b"}, {"> [!note] On [[a]]\n> [[b]]", "a; b"},
		{"| a | b |\n|---|---|\n| [[x]] | [[y\\|shown]] |\n| `[[z]]` | ![[w\\|10]] |", "x; y |shown; !w |10"},
		{"| [[h]] |\n|---|\n| [[x]] |", "h; x"}, {"**[[a]]** _[[b]]_ ~~[[c]]~~ ==[[d]]==", "a; b; c; d"},
		{"-\t[[a]]\n>\t[[b]]", "a; b"},
		// beside links of Markdown
		{"[[a]](b)", "a"}, {"[see [[a]] there](b)", "a"},
	} {
		if got := say(test.text, wikilink.Parse([]byte(test.text))); got != test.want {
			t.Errorf("Parse(%q)\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestInText(t *testing.T) {
	t.Parallel()
	const text = "    [[workflow/workflow-17]] ![[b|c]]\n[[a [[d]] [[[e]]] [[f]]] `[[g]]` [[[[[["
	if got, want := say(text, wikilink.InText(text)), "workflow/workflow-17; !b |c; d"; got != want {
		t.Errorf("InText(%q)\n got %s\nwant %s", text, got, want)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	const text = "a\n\n    code\n```\ncode\n```\n- b\n\n      code\n  c\n> d\n>     e\n\n>     code\n1. ~~~\n   code\nf\r\n\tg"
	var got []string
	for at, line := range wikilink.Lines(text) {
		if !strings.HasPrefix(text[at:], line) {
			t.Errorf("%q is not at %d", line, at)
		}
		if line = strings.Trim(line, "->1. \t\r\n"); line != "" {
			got = append(got, line)
		}
	}
	if got, want := strings.Join(got, " "), "a b c d e f g"; got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// Who asks for one link does not have all of them parsed.
func TestAll(t *testing.T) {
	t.Parallel()
	const text = "`[[no]]` [[a]] [[b]]\n\n[[c]]"
	for want := range 4 {
		var got []wikilink.Link
		for l := range wikilink.All(text) {
			if len(got) == want {
				break
			}
			got = append(got, l)
		}
		if all := wikilink.Parse([]byte(text)); !slices.Equal(got, all[:want]) {
			t.Errorf("the first %d links are %v, want %v", want, got, all[:want])
		}
	}
}
