package article

import (
	"bytes"
	"fmt"
	"html"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	rendered "github.com/yuin/goldmark/renderer/html"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
)

// foldAfter is how many lines of code are shown before the rest is folded.
const foldAfter = 20

// Limits of a text that is read as Markdown. Above them some of goldmark's loops take a time that is
// quadratic: 64 KiB of "[a](" took 16 s. A text that exceeds one is shown as it was written, as is one
// whose tables have more cells than it has bytes, since short rows are filled.
const (
	maxText       = 64 << 10 // bytes
	maxLines      = 4000     // outside of code
	maxBrackets   = 100      // in lines without a blank one between them
	maxDelimiters = 1000     // in such lines
	maxNested     = 16       // quotes and lists that begin in one line
	maxIndent     = 40       // columns before the mark of a list
	maxMarks      = 16_000   // delimiters, and quotes and lists that begin; brackets count eight times
)

// markdown knows no HTML and no headings that are underlined: a thought's < is a character, and a line of
// hyphens below a paragraph separates.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewThematicBreakParser(), 200), util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400), util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600), util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800), util.Prioritized(parser.NewParagraphParser(), 1000)),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewEmphasisParser(), 500)),
			parser.WithParagraphTransformers(util.Prioritized(parser.LinkReferenceParagraphTransformer, 100)))),
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough, extension.Linkify, extension.TaskList),
		goldmark.WithRendererOptions(rendered.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(nodes{}, 1))),
	)
})

// prose writes a text as HTML. Its headings are at least of the given level.
func prose(b *bytes.Buffer, text string, level int) {
	text = strings.Trim(printable.Text(text), "\n")
	if !readable(text) {
		writeBroken(b, []byte(`<p class="plain">`+html.EscapeString(text)+"</p>\n"))
		return
	}
	source := []byte(text)
	doc := markdown().Parser().Parse(mdtext.NewReader(source))
	doc.SetAttributeString("level", level)
	var out bytes.Buffer
	_ = markdown().Renderer().Render(&out, source, doc) // to memory
	writeBroken(b, out.Bytes())
}

// maxWord is after how many characters without a space a line may end. A browser takes seconds for a
// word of 64 KiB, and a time that is quadratic.
const maxWord = 256

// writeBroken writes HTML in which long words may be broken.
func writeBroken(b *bytes.Buffer, text []byte) {
	written, length, end := 0, 0, byte(0) // end is what ends the tag or the entity at hand
	for i, c := range text {
		switch {
		case end != 0:
			if c == end {
				end = 0
			}
			continue
		case c == '<':
			end = '>'
			continue
		case c == ' ' || c == '\n' || c == '\t':
			length = 0
			continue
		case !utf8.RuneStart(c):
			continue
		}
		if length++; length > maxWord {
			b.Write(text[written:i])
			b.WriteString("<wbr>")
			written, length = i, 1
		}
		if c == '&' {
			end = ';'
		}
	}
	b.Write(text[written:])
}

// begins matches the marks of the quotes and lists that a line begins.
var begins = lazyregexp.New(`^(?:[ \t]*(?:>|[-*+][ \t]|[0-9]{1,9}[.)][ \t]))+`)

// readable reports whether a text is within the limits of what is read as Markdown.
func readable(text string) bool {
	if len(text) > maxText {
		return false
	}
	lines, fence := 0, "" // of code that begins in the first column: what is within it has no marks
	var brackets, delimiters, rows, columns, cells, all int
	for line := range strings.SplitSeq(text, "\n") {
		if bare := strings.TrimSpace(line); fence != "" {
			if strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" && len(line)-len(strings.TrimLeft(line, " ")) < 4 {
				fence = ""
			}
			continue
		} else if bare == "" {
			cells += rows * columns
			brackets, delimiters, rows, columns = 0, 0, 0, 0
			continue
		}
		for _, mark := range []string{"`", "~"} {
			n := len(line) - len(strings.TrimLeft(line, mark))
			if n >= 3 && !(mark == "`" && strings.Contains(line[n:], mark)) {
				fence = line[:n]
			}
		}
		lines++
		rows++
		brackets += strings.Count(line, "[")
		delimited := strings.Count(line, "*") + strings.Count(line, "_") + strings.Count(line, "~") + strings.Count(line, "`") + strings.Count(line, "<")
		delimiters += delimited
		if strings.Trim(line, "|:- \t>") == "" {
			columns = max(columns, strings.Count(line, "|")+1)
		}
		marks := begins().FindString(line)
		nested := 0
		for _, r := range marks {
			if strings.ContainsRune(">-*+.)", r) {
				nested++
			}
		}
		indent := 0
		if marks != "" {
			indent = len(line) - len(strings.TrimLeft(line, " \t"))
		}
		all += delimited + nested + 8*strings.Count(line, "[")
		if lines > maxLines || all > maxMarks || brackets > maxBrackets || delimiters > maxDelimiters || nested > maxNested || indent > maxIndent || cells+rows*columns > len(text) {
			return false
		}
	}
	return true
}

// nodes renders what differs from goldmark's HTML.
type nodes struct{}

func (n nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, n.heading)
	r.Register(ast.KindCodeBlock, n.code)
	r.Register(ast.KindFencedCodeBlock, n.code)
	r.Register(ast.KindLink, n.link)
	r.Register(ast.KindAutoLink, n.link)
	r.Register(ast.KindImage, n.link)
	r.Register(extast.KindTable, n.table)
	r.Register(extast.KindTaskCheckBox, n.task)
}

func (nodes) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level, _ := node.OwnerDocument().AttributeString("level")
	base, _ := level.(int)
	tag := fmt.Sprintf("h%d>", min(base+node.(*ast.Heading).Level-1, 6))
	return around(w, entering, "<"+tag, "</"+tag+"\n")
}

// code writes code with its language. The lines after the first ones are folded.
func (nodes) code(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if f, ok := node.(*ast.FencedCodeBlock); ok {
		language = string(f.Language(source))
	}
	lines := strings.Split(strings.TrimRight(string(node.Lines().Value(source)), "\n"), "\n")
	_, _ = w.WriteString(`<figure class="code">`)
	if language != "" {
		_, _ = w.WriteString("<figcaption>" + html.EscapeString(printable.Short(language, 40)) + "</figcaption>")
	}
	shown := min(len(lines), foldAfter)
	codeLines(w, lines[:shown])
	if rest := lines[shown:]; len(rest) > 0 {
		fmt.Fprintf(w, `<details><summary><span class="c">%s</span><span class="o">Fold to %d lines</span></summary>`, printable.Count(len(rest), "more line", "more lines"), foldAfter)
		codeLines(w, rest)
		_, _ = w.WriteString("</details>")
	}
	_, _ = w.WriteString("</figure>\n")
	return ast.WalkSkipChildren, nil
}

func codeLines(w util.BufWriter, lines []string) {
	_, _ = w.WriteString(`<pre tabindex="0"><code>` + html.EscapeString(strings.Join(lines, "\n")) + "\n</code></pre>")
}

// link writes a link whose address is shown after it. An image is a link to it, and what a browser should
// not open is text.
func (nodes) link(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	var address, label string
	switch n := node.(type) {
	case *ast.Link:
		address = string(n.Destination)
	case *ast.Image:
		address = string(n.Destination)
	case *ast.AutoLink:
		address, label = string(n.URL(source)), string(n.Label(source))
	}
	u, err := url.Parse(address)
	opens := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
	before, after, shown := html.EscapeString(label), "", address
	if node.Kind() == ast.KindImage {
		before = "Image: "
	}
	if opens {
		before = `<a href="` + html.EscapeString(string(util.URLEscape([]byte(address), false))) + `" rel="noopener noreferrer nofollow">` + before
		after, shown = "</a>", u.Host
	}
	if label == "" {
		after += ` <span class="at">(` + html.EscapeString(printable.Short(printable.Line(shown), 200)) + `)</span>`
	}
	return around(w, entering, before, after)
}

func (nodes) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	return around(w, entering, `<div class="wide" tabindex="0" role="region" aria-label="Table"><table>`+"\n", "</table></div>\n")
}

func (nodes) task(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if node.(*extast.TaskCheckBox).IsChecked {
		return around(w, entering, "☑ ", "")
	}
	return around(w, entering, "☐ ", "")
}

// around writes what is before the contents of a node, and what is after them.
func around(w util.BufWriter, entering bool, before, after string) (ast.WalkStatus, error) {
	if !entering {
		before = after
	}
	_, err := w.WriteString(before)
	return ast.WalkContinue, err
}
