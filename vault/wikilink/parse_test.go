package wikilink_test

import (
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
		{"whole text", "[[target]]", "target"},
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
		{"heading below a heading", "[[note#One#Two]]", "note #One#Two"},
		{"heading and alias", "[[note#h|shown]]", "note #h |shown"},
		{"block", "[[note#^37066d]]", "note #^37066d"},
		{"empty heading", "[[note#]]", "note"},
		{"heading of this note", "[[#heading]]", " #heading"},
		{"block of this note", "[[#^37066d|here]]", " #^37066d |here"},
		{"embed", "![[image.png|100]]", "!image.png |100"},
		{"embed of a block", "![[note#^b]]", "!note #^b"},
		{"two marks", "!![[a]]", "!a"},
		{"mark with space", "! [[a]]", "a"},

		{"empty", "[[]]", ""},
		{"blank", "[[  ]]", ""},
		{"only alias", "[[|shown]]", ""},
		{"only marks", "[[#]] [[/]] [[_-_]] [[|]]", ""},
		{"single brackets", "[target]", ""},
		{"open", "[[target", ""},
		{"half closed", "[[target] ]", ""},
		{"half open", "[ [target]]", ""},
		{"nested", "[[a [[b]] c]]", "b"},
		{"bracket within", "[[a[b]c]]", ""},
		{"three", "[[[a]]]", ""},
		{"three open", "[[[a]]", ""},
		{"three closed", "[[a]]]", ""},
		{"four", "[[[[a]]]]", ""},
		{"three, then two", "[[[a]]] [[b]]", "b"},
		{"never closed, then two", "[[a and [[b]]", "b"},
		{"over a line end", "[[two\nlines]]", ""},
		{"over a Windows line end", "[[two\r\nlines]]", ""},
		{"over lines of a quote", "> [[two\n> lines]]", ""},
		{"next line", "[[open\n[[b]]", "b"},

		{"escaped", `\[[a]]`, ""},
		{"escaped inside", `[\[a]]`, ""},
		{"escaped both", `\[\[a\]\]`, ""},
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

		{"comment", "<!-- [[a]] -->\n[[b]]", "b"},
		{"line that begins with a comment", "<!-- [[a]] --> [[b]]", ""},
		{"comment in a line", "x <!-- [[a]] --> [[b]]", "b"},
		{"comment over lines", "x <!--\n[[a]]\n--> [[b]]", "b"},
		{"open comment", "<!-- [[a]]\n\n[[b]]", ""},
		{"HTML block", "<div>[[a]]</div>\n\n[[b]]", "b"},
		{"text between tags", "x <b>[[a]]</b>", "a"},
		{"attribute", `x <b title="[[a]]">[[b]]</b>`, "b"},
		{"script", "<script>\n[[a]]\n</script>\n[[b]]", "b"},
		{"autolink", "<https://example.com/[[a]]> [[b]]", "b"},

		{"heading line", "# On [[a]]\n\nUnder [[b]]\n---", "a; b"},
		{"list", "- [[a]]\n  1. [[b]]\n- [ ] [[c]]\n* [x] [[d]]", "a; b; c; d"},
		{"quote", "> [[a]]\n> > [[b]]", "a; b"},
		{"callout", "> [!note] On [[a]]\n> [[b]]", "a; b"},
		{"table", "| a | b |\n|---|---|\n| [[x]] | [[y\\|shown]] |\n| `[[z]]` | ![[w\\|10]] |", "x; y |shown; !w |10"},
		{"table head", "| [[h]] |\n|---|\n| [[x]] |", "h; x"},
		{"bar in a table", "| a | b |\n|---|---|\n| [[x|y]] |", ""},
		{"emphasis", "**[[a]]** _[[b]]_ ~~[[c]]~~ ==[[d]]==", "a; b; c; d"},
		{"emphasis over it", "*[[a*b]]*", "a*b"},
		{"tabs", "-\t[[a]]\n>\t[[b]]", "a; b"},

		{"before parentheses", "[[a]](b)", "a"},
		{"text of a link", "[see [[a]] there](b)", "a"},
		{"title of a link", `[x](y "[[a]]") [[b]]`, "b"},
		{"address of a link", "[x](<[[a]]>) [[b]]", "b"},
		{"definition", "[x]: /y \"[[a]]\"\n\n[[b]] [x]", "b"},
		{"text of an image", "![see [[a]] there](b)", "a"},
		{"after a link", "[x](y)[[a]]", "a"},
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
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"[[workflow/workflow-17]]", "workflow/workflow-17"},
		{"[[a]] and ![[b|c]]", "a; !b |c"},
		{"[[a [[b]] [[[c]]] [[d]]] `[[e]]`", "b; e"},
		{"[[[[[[", ""},
		{"[[two\nlines]] [[b]]", "b"},
	} {
		if got := say(test.text, wikilink.InText(test.text)); got != test.want {
			t.Errorf("InText(%q)\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}
