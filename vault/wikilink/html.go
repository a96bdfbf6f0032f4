package wikilink

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// htmlRenderer renders a link as <a class="wikilink" href="…">, with the class "embed" for
// an embed. A link without URL is a <span> with the class "missing". goldmark renders the
// link's text.
type htmlRenderer struct{ resolve func(Link) string }

// RegisterFuncs implements [renderer.NodeRenderer].
func (r htmlRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(KindNode, r.render)
}

func (r htmlRenderer) render(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n, ok := node.(*Node)
	if !ok || inLink(n) { // a link within a link is its text
		return ast.WalkContinue, nil
	}
	url := ""
	if r.resolve != nil {
		url = r.resolve(n.Link)
	}
	if html.IsDangerousURL([]byte(url)) {
		url = ""
	}
	class := "wikilink"
	if n.Link.Embed {
		class += " embed"
	}
	// Errors of a util.BufWriter are returned by Flush, which goldmark calls.
	switch {
	case entering && url != "":
		_, _ = w.WriteString(`<a class="` + class + `" href="`)
		_, _ = w.Write(util.EscapeHTML(util.URLEscape([]byte(url), false)))
		_, _ = w.WriteString(`">`)
	case entering:
		_, _ = w.WriteString(`<span class="` + class + ` missing">`)
	case url != "":
		_, _ = w.WriteString("</a>")
	default:
		_, _ = w.WriteString("</span>")
	}
	return ast.WalkContinue, nil
}

func inLink(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if k := p.Kind(); k == ast.KindLink {
			return true
		}
	}
	return false
}
