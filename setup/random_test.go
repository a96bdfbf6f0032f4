package setup

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A writer writes random valid documents: with comments, blanks, line endings and nesting
// as people and programs leave them.
type writer struct {
	*rand.Rand
	newline string
	servers string
}

func (w writer) pick(choices ...string) string { return choices[w.IntN(len(choices))] }

// space returns what may stand between two tokens of JSON.
func (w writer) space() string {
	var b strings.Builder
	for range w.IntN(3) {
		b.WriteString(w.pick("", "", " ", "  ", "\t", w.newline, w.newline+"  ", "// c }{\",:"+w.newline, "/* \" "+w.newline+" */"))
	}
	return b.String()
}

func (w writer) object(depth int, first string) string {
	var members []string
	if first != "" {
		members = append(members, first)
	}
	for i := range w.IntN(4) {
		members = append(members, w.space()+quoteJSON(fmt.Sprintf("k%d é", i))+w.space()+":"+w.space()+w.value(depth-1)+w.space())
	}
	w.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	text := "{" + w.space() + strings.Join(members, ",") + w.space()
	if len(members) > 0 && w.IntN(4) == 0 {
		text += "," + w.space()
	}
	return text + "}"
}

func (w writer) value(depth int) string {
	if depth <= 0 {
		return w.pick("1", "-1.50e3", "true", "null", `"// x"`, `"\u00e9{"`, "[]", "{}")
	}
	if w.IntN(2) == 0 {
		return w.object(depth, "")
	}
	return "[" + w.space() + w.value(depth-1) + w.space() + "," + w.space() + w.value(depth-1) + w.pick("", ",") + w.space() + "]"
}

func (w writer) json() string {
	servers := ""
	switch w.IntN(4) {
	case 0:
		servers = w.space() + quoteJSON(w.servers) + w.space() + ":" + w.space() + w.object(2, "") + w.space()
	case 1:
		servers = w.space() + quoteJSON(w.servers) + ": null"
	}
	return w.space() + w.object(3, servers) + w.space()
}

func (w writer) toml() string {
	var b strings.Builder
	line := func(text string) {
		b.WriteString(w.pick("", "", " ", "\t") + text + w.pick("", " ", " # [mcp_servers.sequent]") + w.newline)
	}
	keys := func() {
		for i := range w.IntN(4) {
			line(fmt.Sprintf("%s%d = %s", w.pick("a", "b.c", `"d e"`, "'f'."), i, w.pick(
				"1", "nan", "-0.5", "true", `"x # y"`, `'C:\x'`, "2026-01-02", "2026-01-02T03:04:05Z", "{ x = 1, y = { z = [] } }",
				"[ 1,"+w.newline+"  2, # two"+w.newline+"]", `"""`+w.newline+"[mcp_servers.sequent]"+w.newline+`"""`, "'''a"+w.newline+"'''")))
		}
		b.WriteString(w.pick("", w.newline, "# end"+w.newline))
	}
	keys()
	for i := range w.IntN(4) {
		line(fmt.Sprintf(w.pick("[t%d]", "[[l%d.x]]", "[ "+w.servers+" . s%d ]", "["+w.servers+".\"q %d\".env]"), i))
		keys()
	}
	text := b.String()
	if w.IntN(3) == 0 {
		text = strings.TrimSuffix(text, w.newline)
	}
	return text
}

func (w writer) yaml() string {
	var b strings.Builder
	keys := func(indent string) {
		for i := range 1 + w.IntN(3) {
			b.WriteString(fmt.Sprintf("%sk%d: %s", indent, i, w.pick(
				"1", "~", "'a: b'", "\"x # y\"", "[1, {a: b}]", "{a: [b]}", "|"+w.newline+indent+"  extensions:"+w.newline+indent+"    sequent: 1",
				w.newline+indent+"  - a"+w.newline+indent+"  - b: c", w.newline+indent+"- a", ">-"+w.newline+indent+"    a"+w.newline+w.newline+indent+"    b")))
			b.WriteString(w.pick(w.newline, w.newline, w.newline+w.newline, w.newline+indent+"# c"+w.newline))
		}
	}
	b.WriteString(w.pick("", "# first"+w.newline, "---"+w.newline))
	keys("")
	switch w.IntN(3) {
	case 0:
		b.WriteString(w.servers + ":" + w.pick("", " # mine", " {}", " null") + w.newline)
	case 1:
		b.WriteString(w.servers + ":" + w.newline + w.pick("", "    # first"+w.newline))
		keys(w.pick("  ", "    "))
	}
	b.WriteString("last: 1" + w.newline)
	text := b.String()
	if w.IntN(3) == 0 {
		text = strings.TrimSuffix(text, w.newline)
	}
	return text
}

// Adding the entry to any valid document succeeds, and removing it restores the document.
func TestRandomDocuments(t *testing.T) {
	for _, id := range []string{"claude-code", "codex", "goose"} {
		c, _ := Lookup(id)
		fields, err := c.fields(Server{Command: "/opt/sequent", Args: []string{"serve"}, Env: map[string]string{"A": "b"}}, false)
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for seed := range uint64(3000) {
			w := writer{Rand: rand.New(rand.NewPCG(seed, 1)), newline: "\n", servers: c.Servers[0]}
			if w.IntN(3) == 0 {
				w.newline = "\r\n"
			}
			text := map[Format]func() string{JSON: w.json, TOML: w.toml, YAML: w.yaml}[c.Format]()
			if w.IntN(5) == 0 {
				text = byteOrderMark + text
			}
			d, err := c.parse(configFile{exists: true, text: []byte(text)})
			if err != nil {
				if c.Format == JSON {
					t.Fatalf("seed %d: %q does not parse: %v", seed, text, err)
				}
				continue // a key or a table twice
			}
			tried++
			added, r, err := d.add(fields, receipt{})
			if err != nil {
				t.Fatalf("%s, seed %d: %q: %v", id, seed, text, err)
			}
			if d, err = c.parse(configFile{exists: true, text: added}); err != nil {
				t.Fatalf("%s, seed %d: %q became %q: %v", id, seed, text, added, err)
			}
			if back, undone, err := d.remove(r); err != nil || !undone || string(back) != text {
				t.Fatalf("%s, seed %d: %q became\n%q and\n%q (%v, %v)", id, seed, text, added, back, undone, err)
			}
			if _, _, err := d.remove(receipt{}); err != nil && c.Format != YAML { // flow style
				t.Fatalf("%s, seed %d: %q without a receipt: %v", id, seed, added, err)
			}
		}
		if tried < 1000 {
			t.Errorf("%s: only %d documents are valid", id, tried)
		}
	}
}
