package draw

// glyphs are the characters of a drawing, each one column wide.
type glyphs struct {
	pass, fork, last, turn, gap  string // of lanes
	node, old, revision, final   string // of thoughts
	ellipsis, dot, arrow, folded string // of remarks
	cross                        string // of lines
}

func glyphsOf(c Charset) glyphs {
	if c == Unicode {
		return glyphs{
			pass: "│", fork: "├─╮", last: "╰─╮", turn: "├╴", gap: "┊",
			node: "●", old: "○", revision: "◆", final: "■",
			ellipsis: "…", dot: " · ", arrow: "→", folded: "⋯", cross: "╳",
		}
	}
	return glyphs{
		pass: "|", fork: `|-\`, last: "`-\\", turn: "|-", gap: ":",
		node: "*", old: "o", revision: "+", final: "#",
		ellipsis: "~", dot: " - ", arrow: "->", folded: "...", cross: "x",
	}
}
