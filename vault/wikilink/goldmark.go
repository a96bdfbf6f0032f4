package wikilink

import (
	"slices"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Parse returns the links of a Markdown text without front matter, in order.
func Parse(markdown []byte) []Link {
	ctx := parser.NewContext()
	NewMarkdown(nil).Parser().Parse(text.NewReader(markdown), parser.WithContext(ctx))
	links, _ := ctx.Get(foundKey).([]Link)
	slices.SortFunc(links, func(a, b Link) int { return a.Start - b.Start })
	return links
}

// foundKey is the key of the links that were parsed so far.
var foundKey = parser.NewContextKey()

// An Extender adds WikiLinks to a goldmark.Markdown. [NewMarkdown] has them already, and
// limits the time for hostile texts.
type Extender struct {
	// Resolve returns the URL for a link on a page. If it is nil or returns an empty
	// text, the page shows the link as missing.
	Resolve func(Link) (url string)
}

// Extend implements [goldmark.Extender].
func (e *Extender) Extend(md goldmark.Markdown) {
	// Before goldmark's own links, which have priority 200.
	md.Parser().AddOptions(parser.WithInlineParsers(util.Prioritized(inlineParser{}, 199)))
	md.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(htmlRenderer{e.Resolve}, 199)))
}

// KindNode is the kind of a [Node].
var KindNode = ast.NewNodeKind("WikiLink")

// A Node is a WikiLink in a goldmark document. Its child is the text that is shown.
type Node struct {
	ast.BaseInline
	Link Link
}

// Kind implements [ast.Node].
func (*Node) Kind() ast.NodeKind { return KindNode }

// Dump implements [ast.Node].
func (n *Node) Dump(source []byte, level int) {
	ast.DumpHelper(n, source, level, map[string]string{
		"Target": n.Link.Target, "Fragment": n.Link.Fragment, "Alias": n.Link.Alias,
	}, nil)
}

type inlineParser struct{}

// Trigger implements [parser.InlineParser].
func (inlineParser) Trigger() []byte { return []byte{'!', '['} }

// Parse implements [parser.InlineParser].
func (inlineParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	bang := 0
	if line[0] == '!' {
		bang = 1
	}
	if len(line) < bang+2 || line[bang] != '[' || line[bang+1] != '[' {
		return nil
	}
	rest := line[bang:]
	if run := runOf(rest, '['); run != 2 || bang == 0 && afterBracket(block.Source(), segment.Start) {
		return nil
	}
	l, size, ok := match(rest)
	if !ok {
		return nil
	}
	l.Embed = bang == 1
	l.Start, l.Stop = segment.Start, segment.Start+bang+size
	found, _ := pc.Get(foundKey).([]Link)
	pc.Set(foundKey, append(found, l))
	block.Advance(bang + size)

	n := &Node{Link: l}
	n.SetPos(l.Start)
	n.AppendChild(n, ast.NewString([]byte(l.shown())))
	return n
}

// afterBracket reports whether there is an unescaped bracket before offset i.
func afterBracket(source []byte, i int) bool {
	if i == 0 || source[i-1] != '[' {
		return false
	}
	slashes := 0
	for j := i - 2; j >= 0 && source[j] == '\\'; j-- {
		slashes++
	}
	return slashes%2 == 0
}

// shown returns the link's text on a page.
func (l Link) shown() string {
	switch {
	case l.Alias != "":
		return l.Alias
	case l.Fragment == "":
		return l.Target
	case l.Target == "":
		return l.Fragment
	}
	return l.Target + " > " + l.Fragment
}
