package wikilink

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// goldmark takes quadratic time for some texts: a megabyte of asterisks takes minutes.
// These limits are far beyond what people write. Markup beyond them is plain text.
const (
	maxDepth      = 100  // nested quotes and lists
	maxDelimiters = 256  // runs of *, _ and ~ in a paragraph
	maxBrackets   = 512  // closing brackets in a paragraph, apart from WikiLinks
	maxScans      = 256  // how often a paragraph is read again for its links
	maxLines      = 1000 // of a paragraph that may define links or be a table
)

// newParser returns a Markdown parser with WikiLinks, tables and strikethrough. It takes
// linear time for every text.
func newParser() parser.Parser {
	// Before goldmark's own links, which have priority 200.
	links := util.Prioritized(inlineParser{}, 199)
	return parser.NewParser(
		parser.WithBlockParsers(boundedBlocks()...),
		parser.WithInlineParsers(append(boundedInlines(), links)...),
		parser.WithParagraphTransformers(
			util.Prioritized(boundedTransformer{parser.LinkReferenceParagraphTransformer}, 100),
			util.Prioritized(boundedTransformer{extension.NewTableParagraphTransformer()}, 200),
		),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

func boundedBlocks() []util.PrioritizedValue {
	all := parser.DefaultBlockParsers()
	for i, p := range all {
		switch p.Priority {
		case 300, 800: // lists, quotes
			all[i].Value = boundedBlock{p.Value.(parser.BlockParser)}
		}
	}
	return all
}

func boundedInlines() []util.PrioritizedValue {
	all := append(parser.DefaultInlineParsers(), util.Prioritized(extension.NewStrikethroughParser(), 500))
	for i, p := range all {
		switch p.Priority {
		case 200: // links
			all[i].Value = boundedLinks{p.Value.(linkParser)}
		case 500: // emphasis and strikethrough
			all[i].Value = boundedDelimiters{p.Value.(parser.InlineParser)}
		}
	}
	return all
}

// A boundedBlock parses lists and quotes up to maxDepth.
type boundedBlock struct{ parser.BlockParser }

// Open implements [parser.BlockParser].
func (b boundedBlock) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if depth++; depth > maxDepth {
			return nil, parser.NoChildren
		}
	}
	return b.BlockParser.Open(parent, reader, pc)
}

// A boundedTransformer skips paragraphs of more than maxLines.
type boundedTransformer struct{ parser.ParagraphTransformer }

// Transform implements [parser.ParagraphTransformer].
func (b boundedTransformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= maxLines {
		b.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// A spending counts the work for a paragraph.
type spending struct {
	block                ast.Node
	delimiters, brackets int
	scanned              int // bytes, or work that takes as long
}

var spendingKey = parser.NewContextKey()

func spendingOf(block ast.Node, pc parser.Context) *spending {
	s, ok := pc.Get(spendingKey).(*spending)
	if !ok || s.block != block {
		s = &spending{block: block}
		pc.Set(spendingKey, s)
	}
	return s
}

type boundedDelimiters struct{ parser.InlineParser }

// Parse implements [parser.InlineParser].
func (b boundedDelimiters) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	s := spendingOf(parent, pc)
	if s.delimiters++; s.delimiters > maxDelimiters {
		return nil
	}
	return b.InlineParser.Parse(parent, block, pc)
}

type linkParser interface {
	parser.InlineParser
	parser.CloseBlocker
}

type boundedLinks struct{ linkParser }

// Parse implements [parser.InlineParser].
func (b boundedLinks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	s := spendingOf(parent, pc)
	line, _ := block.PeekLine()
	if line[0] == ']' {
		s.brackets++
		s.scanned += len(line) + 4*parent.ChildCount() // it searches ahead for a URL and back for other links
	}
	lines := parent.Lines()
	length := lines.At(lines.Len()-1).Stop - lines.At(0).Start
	if s.brackets > maxBrackets || s.scanned > maxScans*length {
		return nil
	}
	return b.linkParser.Parse(parent, block, pc)
}
