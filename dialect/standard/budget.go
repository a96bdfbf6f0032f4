package standard

import (
	"fmt"

	"github.com/sequent-dev/sequent"
)

// footer is the number of bytes reserved for the line about omitted items.
const footer = 80

// heads is the text above the thoughts.
type heads struct {
	head  string
	title string   // shown if the thought that it comes from is omitted
	more  []string // further lines
	cut   int      // bytes removed from these lines
}

// add adds a line, truncated to a number of bytes.
func (h *heads) add(line string, most int) {
	if line != "" {
		h.more = append(h.more, cut(line, most))
		h.cut += max(len(line)-most, 0)
	}
}

// size returns the length in bytes.
func (h *heads) size() int {
	n := len(h.head) + len(": ") + len(h.title) + 1
	for _, line := range h.more {
		n += len(line) + 1
	}
	return n
}

// items writes the newest items that fit and those worth keeping, and how to get the
// others.
func (p *page) items(items []item, in recallArgs, h heads, cursor func(before int) string) {
	whole := h.size() + h.cut + footer
	if most := p.room / 4; len(h.title) > most {
		h.title = cut(h.title, most)
	}
	if most := p.room / 4; len(h.head) > most {
		h.head = cut(h.head, most)
	}
	show, first := choose(items, p.room-footer-h.size(), in.Limit)
	if !show[0] && h.title != "" {
		h.head += ": " + h.title
	}
	p.line(h.head)
	for _, line := range h.more {
		p.line(line)
	}
	left := 0
	for i := range items {
		if !show[i] {
			left++
			continue
		}
		text := items[i].String()
		if room := p.room - footer; len(text) >= room {
			text = shorten(text, room-1, sequent.Tokens(text)+whole/bytesPerToken+1)
		}
		p.line(text)
	}
	if left > 0 {
		p.line(fmt.Sprintf("%d earlier left out: cursor %s", left, quote(cursor(first))))
	}
}

// fits reports whether all items fit on the page.
func (p *page) fits(items []item, h heads) bool {
	room := p.room - h.size() - h.cut - 1
	for i := range items {
		if room -= items[i].least; room < 0 {
			return false
		}
		if room -= len(items[i].String()) + 1 - items[i].least; room < 0 {
			return false
		}
	}
	return true
}

// choose selects the items to show in room bytes: the newest item, whatever its size;
// those worth keeping, best and newest first, in at most half the room; and the newest
// of the rest. All items from first on are shown. A limit of 0 means none.
func choose(items []item, room, limit int) (show []bool, first int) {
	show = make([]bool, len(items))
	if limit == 0 {
		limit = len(items)
	}
	take := func(i, most int) bool {
		if show[i] {
			return true
		}
		if limit == 0 || items[i].least >= most {
			return false
		}
		cost := len(items[i].String()) + 1
		if cost > most {
			return false
		}
		show[i] = true
		room -= cost
		limit--
		return true
	}
	newest := len(items) - 1
	take(newest, len(items[newest].String())+1)
	half := room / 2
	for _, worth := range []int{latest, summary} {
		for i := newest - 1; i >= 0; i-- {
			if items[i].keep == worth {
				take(i, room-half)
			}
		}
	}
	for first = newest; first > 0 && take(first-1, room); first-- {
	}
	return show, first
}

// shorten truncates a thought that is larger than the page, and adds the token budget
// that shows all of it.
func shorten(text string, room, tokens int) string {
	rest := sequent.Tokens(text) - room/bytesPerToken
	mark := fmt.Sprintf("\n  (cut, %d tokens more: maxTokens %d shows all)", rest, tokens)
	return cut(text, max(room-len(mark), 0)) + mark
}
