package wikilink

import (
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Parse returns the links of a Markdown text without front matter, in order.
func Parse(markdown []byte) []Link {
	ctx := parser.NewContext()
	newParser().Parse(text.NewReader(markdown), parser.WithContext(ctx))
	links, _ := ctx.Get(foundKey).([]Link)
	slices.SortFunc(links, func(a, b Link) int { return a.Start - b.Start })
	return links
}

// foundKey is the key of the links that were parsed so far.
var foundKey = parser.NewContextKey()

// A node is a WikiLink in a goldmark document.
type node struct{ ast.BaseInline }

var nodeKind = ast.NewNodeKind("WikiLink")

// Kind implements [ast.Node].
func (*node) Kind() ast.NodeKind { return nodeKind }

// Dump implements [ast.Node].
func (n *node) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

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

	n := new(node)
	n.SetPos(l.Start)
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
