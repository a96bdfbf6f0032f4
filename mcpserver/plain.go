package mcpserver

import (
	"encoding/json"
	"unicode/utf8"
)

// maxGlance bounds how deep a plain call nests. The SDK's bound is far above.
const maxGlance = 64

// A plainCall is a tools/call with nothing unusual about it, so that its reply
// is known without asking the SDK.
type plainCall struct {
	ok   bool
	name string
	args json.RawMessage // an object, or nil if absent
	// What a request of the modern era says about its client.
	capabilities, client json.RawMessage
	token                json.RawMessage // by which it asks for reports of progress; nil if it does not
}

// glance reads a line once, and is false for all but a valid plain call, which
// [parse] would read in the same way. The envelope shares the line's memory.
func glance(line []byte, e *envelope, p *plainCall) bool {
	g := glancer{b: line}
	var seen [4]bool
	g.object(func(key []byte) bool {
		var n int
		switch string(key) {
		case "jsonrpc":
			n = 0
			v, ok := g.plainText()
			if !ok || string(v) != "2.0" {
				return false
			}
		case "id":
			n = 1
			start := g.i
			if start >= len(line) || !isID(line[start:]) || !g.value(0) {
				return false
			}
			e.id = line[start:g.i:g.i]
		case "method":
			n = 2
			v, ok := g.plainText()
			if !ok || string(v) != methodCallTool {
				return false
			}
		case "params":
			n = 3
			start := g.i
			if !g.params(e, p) {
				return false
			}
			e.params = line[start:g.i:g.i]
		default:
			return false
		}
		again := seen[n]
		seen[n] = true
		return !again
	})
	if g.space(); g.bad || g.i != len(line) || seen != [4]bool{true, true, true, true} || g.wide && !utf8.Valid(line) {
		*e, *p = envelope{}, plainCall{}
		return false
	}
	e.kind, e.method = request, methodCallTool
	e.modern = e.says >= firstModern
	p.ok = true
	return true
}

// params reads the params of a tools/call.
func (g *glancer) params(e *envelope, p *plainCall) bool {
	named, meta := false, false
	g.object(func(key []byte) bool {
		switch string(key) {
		case "name":
			v, ok := g.plainText()
			if !ok || named {
				return false
			}
			named, p.name = true, string(v)
			return true
		case "arguments":
			if p.args != nil {
				return false
			}
			p.args = g.raw('{')
			return p.args != nil
		case "_meta":
			if meta {
				return false
			}
			meta = true
			return g.meta(e, p)
		}
		return false
	})
	return !g.bad && named
}

// meta reads the _meta of a tools/call.
func (g *glancer) meta(e *envelope, p *plainCall) bool {
	odd := g.odd
	g.odd = false
	g.object(func(key []byte) bool {
		switch string(key) {
		case metaProtocol:
			v, ok := g.plainText()
			if !ok || e.says != "" || string(v) != firstModern {
				return false
			}
			e.says = firstModern
			return true
		case metaCapabilities:
			if p.capabilities != nil {
				return false
			}
			p.capabilities = g.raw('{')
			return p.capabilities != nil
		case metaClient:
			if p.client != nil {
				return false
			}
			p.client = g.raw('{')
			return p.client != nil
		case metaProgress:
			if p.token != nil {
				return false
			}
			start := g.i
			if !g.value(1) {
				return false
			}
			p.token = g.b[start:g.i:g.i]
			return true
		}
		return g.value(1)
	})
	ok := !g.bad && !g.odd // the SDK decodes all of it, and some numbers are too large for that
	g.odd = odd
	return ok && (e.says == "" || p.capabilities != nil)
}

// A glancer walks over a line that is most likely a plain call, and gives up at
// anything else.
type glancer struct {
	b    []byte
	i    int
	wide bool // there were bytes beyond ASCII
	odd  bool // there was a number that is not a short integer
	bad  bool // it gave up

	loose bool // there was white space between tokens
}

// compact reports whether raw is surely one value in UTF-8 without white space
// between its tokens.
func compact(raw json.RawMessage) bool {
	g := glancer{b: raw}
	return g.value(0) && g.i == len(raw) && !g.loose && (!g.wide || utf8.Valid(raw))
}

func (g *glancer) space() {
	i := skipSpace(g.b, g.i)
	g.loose = g.loose || i > g.i
	g.i = i
}

// next skips white space and reports whether the next byte is c.
func (g *glancer) next(c byte) bool {
	g.space()
	if g.i < len(g.b) && g.b[g.i] == c {
		g.i++
		return true
	}
	return false
}

// object calls member at each value of the object that begins here, with the
// name before it. It gives up if member does, and at a name with escapes.
func (g *glancer) object(member func(key []byte) bool) {
	if !g.next('{') {
		g.bad = true
		return
	}
	if g.next('}') {
		return
	}
	for {
		g.space()
		key, ok := g.plainText()
		if !ok || !g.next(':') {
			g.bad = true
			return
		}
		g.space()
		if !member(key) || g.bad {
			g.bad = true
			return
		}
		if g.next(',') {
			continue
		}
		g.bad = !g.next('}')
		return
	}
}

// plainText reads a string without escapes.
func (g *glancer) plainText() ([]byte, bool) {
	start := g.i + 1
	escaped, ok := g.str()
	if !ok || escaped {
		return nil, false
	}
	return g.b[start : g.i-1], true
}

// raw reads a value that begins with c; nil if it does not.
func (g *glancer) raw(c byte) json.RawMessage {
	start := g.i
	if start >= len(g.b) || g.b[start] != c || !g.value(0) {
		return nil
	}
	return g.b[start:g.i:g.i]
}

// value skips a value, and is false if there is none.
func (g *glancer) value(depth int) bool {
	if g.i >= len(g.b) {
		return false
	}
	switch c := g.b[g.i]; c {
	case '"':
		_, ok := g.str()
		return ok
	case 't':
		return g.word("true")
	case 'f':
		return g.word("false")
	case 'n':
		return g.word("null")
	case '{', '[':
		return g.nested(c, depth+1)
	default:
		return g.number()
	}
}

func (g *glancer) word(w string) bool {
	if len(g.b)-g.i < len(w) || string(g.b[g.i:g.i+len(w)]) != w {
		return false
	}
	g.i += len(w)
	return true
}

// nested skips an object or an array.
func (g *glancer) nested(open byte, depth int) bool {
	if depth > maxGlance {
		return false
	}
	closing := open + 2 // in ASCII, for brackets as for braces
	g.i++
	if g.next(closing) {
		return true
	}
	for {
		g.space()
		if open == '{' {
			if _, ok := g.str(); !ok || !g.next(':') {
				return false
			}
			g.space()
		}
		if !g.value(depth) {
			return false
		}
		if !g.next(',') {
			return g.next(closing)
		}
	}
}

// str skips a string.
func (g *glancer) str() (escaped, ok bool) {
	b, i := g.b, g.i
	if i >= len(b) || b[i] != '"' {
		return false, false
	}
	var wide byte
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			g.i = i + 1
			g.wide = g.wide || wide >= utf8.RuneSelf
			return escaped, true
		case c == '\\':
			escaped = true
			n := escape(b[i:])
			if n == 0 {
				return false, false
			}
			i += n - 1
		case c < ' ':
			return false, false
		default:
			wide |= c
		}
	}
	return false, false
}

// escape returns the length of the escape that b begins with, 0 if it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

// number skips a number.
func (g *glancer) number() bool {
	start := g.i
	if g.i < len(g.b) && g.b[g.i] == '-' {
		g.i++
	}
	whole := g.digits()
	if whole == 0 || whole > 1 && g.b[g.i-whole] == '0' {
		return false
	}
	if g.i < len(g.b) && g.b[g.i] == '.' {
		g.i++
		g.odd = true
		if g.digits() == 0 {
			return false
		}
	}
	if g.i < len(g.b) && g.b[g.i]|0x20 == 'e' {
		g.i++
		g.odd = true
		if g.i < len(g.b) && (g.b[g.i] == '+' || g.b[g.i] == '-') {
			g.i++
		}
		if g.digits() == 0 {
			return false
		}
	}
	g.odd = g.odd || g.i-start > 15
	return true
}

func (g *glancer) digits() (n int) {
	for ; g.i < len(g.b) && '0' <= g.b[g.i] && g.b[g.i] <= '9'; g.i++ {
		n++
	}
	return n
}
