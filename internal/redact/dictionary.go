package redact

import "github.com/sequent-dev/sequent"

// maxSecrets is the maximum number of bytes of the different texts that are removed from
// a session.
const maxSecrets = 1 << 20

// A dictionary finds texts in others in time that is linear in the others, whatever it
// holds: it is the automaton of Aho and Corasick.
type dictionary struct {
	nodes []node
	size  int // bytes of the texts
}

// A node stands for a beginning of texts.
type node struct {
	first, next int32  // child, and sibling; 0 for none
	fail        int32  // node of the longest end of the beginning that is a beginning, too
	longest     int32  // bytes of the longest text with which the beginning ends; 0 for none
	name        string // of that text
	letter      byte   // last one of the beginning
}

// A span is a part of a text to remove.
type span struct {
	start, end int
	name       string
}

// add adds a text that the rule with a name found, and reports whether it is new. It fails
// if all of them are too long.
func (d *dictionary) add(text, name string) (bool, error) {
	if text == "" {
		return false, nil
	}
	if d.nodes == nil {
		d.nodes = make([]node, 1)
	}
	at := int32(0)
	for i := range len(text) {
		child := d.child(at, text[i])
		if child == 0 {
			child = int32(len(d.nodes))
			d.nodes = append(d.nodes, node{next: d.nodes[at].first, letter: text[i]})
			d.nodes[at].first = child
		}
		at = child
	}
	if int(d.nodes[at].longest) == len(text) { // a shorter one only ends here
		return false, nil
	}
	if d.size += len(text); d.size > maxSecrets {
		return false, sequent.Errorf(sequent.CodeLimitExceeded, "redact", "use narrower expressions",
			"more than 1 MiB of different texts would be masked in the session")
	}
	d.nodes[at].longest, d.nodes[at].name = int32(len(text)), name
	return true, nil
}

func (d *dictionary) child(at int32, letter byte) int32 {
	at = d.nodes[at].first
	for at != 0 && d.nodes[at].letter != letter {
		at = d.nodes[at].next
	}
	return at
}

// step returns the node after a letter.
func (d *dictionary) step(at int32, letter byte) int32 {
	for {
		if child := d.child(at, letter); child != 0 || at == 0 {
			return child
		}
		at = d.nodes[at].fail
	}
}

// link prepares the dictionary for find, after the last add.
func (d *dictionary) link() {
	if d.nodes == nil {
		return
	}
	queue := make([]int32, 1, len(d.nodes))
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		for child := d.nodes[at].first; child != 0; child = d.nodes[child].next {
			queue = append(queue, child)
			n := &d.nodes[child]
			if at != 0 {
				n.fail = d.step(d.nodes[at].fail, n.letter)
			}
			if end := &d.nodes[n.fail]; n.longest == 0 && end.longest > 0 {
				n.longest, n.name = end.longest, end.name
			}
		}
	}
}

// find returns the parts of a text that are in the dictionary, in order. Those that touch
// or overlap are one, so that nothing is left of either.
func (d *dictionary) find(text string) (spans []span) {
	if d.nodes == nil {
		return nil
	}
	at := int32(0)
	for i := range len(text) {
		at = d.step(at, text[i])
		n := &d.nodes[at]
		if n.longest == 0 {
			continue
		}
		s := span{i + 1 - int(n.longest), i + 1, n.name}
		for len(spans) > 0 && spans[len(spans)-1].end >= s.start {
			last := spans[len(spans)-1]
			if last.start <= s.start {
				s.name = last.name
			}
			s.start = min(s.start, last.start)
			spans = spans[:len(spans)-1]
		}
		spans = append(spans, s)
	}
	return spans
}
