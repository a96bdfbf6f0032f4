package setup

import (
	"fmt"
	"math/rand/v2"
	"strconv"
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
		members = append(members, w.space()+strconv.Quote(fmt.Sprintf("k%d é", i))+w.space()+":"+w.space()+w.value(depth-1)+w.space())
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
		servers = w.space() + strconv.Quote(w.servers) + w.space() + ":" + w.space() + w.object(2, "") + w.space()
	case 1:
		servers = w.space() + strconv.Quote(w.servers) + ": null"
	}
	return w.space() + w.object(3, servers) + w.space()
}

// Adding the entry to any valid document, changing it and cutting it out leave the rest as it is.
// Each method compares what it has made with what was there.
func TestRandomDocuments(t *testing.T) {
	c, _ := Lookup("claude-code")
	for seed := range uint64(1000) {
		w := writer{Rand: rand.New(rand.NewPCG(seed, 1)), newline: "\n", servers: c.Servers[0]}
		if w.IntN(3) == 0 {
			w.newline = "\r\n"
		}
		text := w.json()
		if w.IntN(5) == 0 {
			text = byteOrderMark + text
		}
		d, err := c.parse([]byte(text))
		if err != nil {
			t.Fatalf("seed %d: %q does not parse: %v", seed, text, err)
		}
		if !roundTrip(t, d) {
			t.Errorf("seed %d: %q is left alone", seed, text)
		}
	}
}
