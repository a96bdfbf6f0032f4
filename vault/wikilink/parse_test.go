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
	for _, test := range []struct{ name, text, want string }{
		{"none", "plain text", ""},
		{"empty text", "", ""},
		{"one", "see [[target]].", "target"},
		{"two in order", "[[b]][[a]]", "b; a"},
		{"the same twice", "[[a]] [[a]]", "a; a"},
		{"spaces", "[[ Rate Limiting ]]", "Rate Limiting"},
		{"path", "[[workflow/workflow-17]]", "workflow/workflow-17"},
		{"Unicode", "«[[Ångström]]», [[思考链]], [[👩‍💻]]", "Ångström; 思考链; 👩‍💻"},
		{"no space around", "在[[思考链]]中", "思考链"},
		{"punctuation", "[[C++]] [[don't]] [[a & b]] [[x@y.z]] [[1,2]]", "C++; don't; a & b; x@y.z; 1,2"},
		{"bad bytes", "\xff[[a\xff]]\xff", "a\xff"},
		{"Windows lines", "[[a]]\r\n[[b]]\r\n", "a; b"},

		{"alias", "[[target|shown]]", "target |shown"},
		{"alias with spaces", "[[ target | shown so ]]", "target |shown so"},
		{"alias with a bar", "[[target|a|b]]", "target |a|b"},
		{"alias, escaped", `[[target\|shown]]`, "target |shown"},
		{"empty alias", "[[target|]]", "target"},
		{"heading", "[[note#Some Heading]]", "note #Some Heading"},
		{"heading and alias", "[[note#h|shown]]", "note #h |shown"},
		{"block", "[[note#^37066d]]", "note #^37066d"},
		{"heading of this note", "[[#heading]]", " #heading"},
		{"embed", "![[image.png|100]]", "!image.png |100"},
		{"embed of a block", "![[note#^b]]", "!note #^b"},
		{"mark with space", "! [[a]]", "a"},

		{"empty", "[[]]", ""},
		{"only alias", "[[|shown]]", ""},
		{"only marks", "[[#]] [[/]] [[_-_]] [[|]]", ""},
		{"single brackets", "[target]", ""},
		{"open", "[[target", ""},
		{"half closed", "[[target] ]", ""},
		{"nested", "[[a [[b]] c]]", "b"},
		{"bracket within", "[[a[b]c]]", ""},
		{"three", "[[[a]]]", ""},
		{"three open", "[[[a]]", ""},
		{"three, then two", "[[[a]]] [[b]]", "b"},
		{"never closed, then two", "[[a and [[b]]", "b"},
		{"over a line end", "[[two\nlines]]", ""},
		{"over a Windows line end", "[[two\r\nlines]]", ""},
		{"over lines of a quote", "> [[two\n> lines]]", ""},
		{"next line", "[[open\n[[b]]", "b"},

		{"escaped", `\[[a]]`, ""},
		{"escaped inside", `[\[a]]`, ""},
		{"escaped end", `[[a\]]`, ""},
		{"escaped end between", `[[a]\]`, ""},
		{"escaped escape", `\\[[a]]`, "a"},
		{"escaped mark", `\![[a]]`, "a"},
		{"escaped bracket before", `\[[[a]]`, "a"},
		{"backslash within", `[[C:\notes]]`, `C:\notes`},

		{"code span", "`[[a]]` [[b]]", "b"},
		{"code span of two", "``[[a]] ` ``", ""},
		{"code span over lines", "`x\n[[a]]` [[b]]", "b"},
		{"open code span", "` [[a]]", "a"},
		{"code within", "[[`a`]]", ""},
		{"code at the end", "[[a `]]` b", ""},
		{"code before an end", "[[a `b`]]", ""},
		{"fence", "```\n[[a]]\n```\n[[b]]", "b"},
		{"fence with a language", "```md\n[[a]]\n```", ""},
		{"tilde fence", "~~~\n[[a]]\n```\n[[b]]\n~~~\n[[c]]", "c"},
		{"open fence", "```\n[[a]]", ""},
		{"fence in a list", "- x\n\n  ```\n  [[a]]\n  ```\n  [[b]]", "b"},
		{"fence in a quote", "> ```\n> [[a]]\n> ```\n> [[b]]", "b"},
		{"info of a fence", "``` [[a]]\nx\n```", ""},
		{"indented code", "x\n\n    [[a]]\n\n[[b]]", "b"},
		{"code by tab", "\t[[a]]", ""},
		{"continued paragraph", "x\n    [[a]]", "a"},

		{"HTML is text", "<!-- [[a]] --> <b title=\"[[b]]\">[[c]]</b>", "a; b; c"},
		{"address of a link is text", "[x](y \"[[a]]\") [[b]]", "a; b"},
		{"bar in a table is text", "| a | b |\n|---|---|\n| [[x|y]] |", "x |y"},

		{"heading line", "# On [[a]]\n\nUnder [[b]]\n---", "a; b"},
		{"list", "- [[a]]\n  1. [[b]]\n- [ ] [[c]]\n* [x] [[d]]", "a; b; c; d"},
		{"quote", "> [[a]]\n> > [[b]]", "a; b"},
		{"callout", "> [!note] On [[a]]\n> [[b]]", "a; b"},
		{"table", "| a | b |\n|---|---|\n| [[x]] | [[y\\|shown]] |\n| `[[z]]` | ![[w\\|10]] |", "x; y |shown; !w |10"},
		{"table head", "| [[h]] |\n|---|\n| [[x]] |", "h; x"},
		{"emphasis", "**[[a]]** _[[b]]_ ~~[[c]]~~ ==[[d]]==", "a; b; c; d"},
		{"tabs", "-\t[[a]]\n>\t[[b]]", "a; b"},

		{"before parentheses", "[[a]](b)", "a"},
		{"text of a link", "[see [[a]] there](b)", "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := say(test.text, wikilink.Parse([]byte(test.text))); got != test.want {
				t.Errorf("Parse(%q)\n got %s\nwant %s", test.text, got, test.want)
			}
		})
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
