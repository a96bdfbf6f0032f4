package draw

// glyphs are the characters of a drawing, each one column wide.
type glyphs struct {
	pass, fork, last, turn, gap string // of lanes
	node, old, revision, final  string // of thoughts
	ellipsis, dot, folded       string // of remarks
	cross, note                 string // of lines, of what people said
}

func glyphsOf(c Charset) glyphs {
	if c == Unicode {
		return glyphs{
			pass: "│", fork: "├─╮", last: "╰─╮", turn: "├╴", gap: "┊",
			node: "●", old: "○", revision: "◆", final: "■",
			ellipsis: "…", dot: " · ", folded: "⋯", cross: "×", note: "✎ ",
		}
	}
	return glyphs{
		pass: "|", fork: `|-\`, last: "`-\\", turn: "|-", gap: ":",
		node: "*", old: "o", revision: "+", final: "#",
		ellipsis: "~", dot: " - ", folded: "...", cross: "x", note: "note: ",
	}
}
