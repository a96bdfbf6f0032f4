package standard

import (
	"fmt"

	"github.com/sequent-dev/sequent"
)

// footer is room kept for the line that says what was left out.
const footer = 80

// items shows the newest of the items that there is room for, and those that
// sum up what came before, and says how to get the others.
func (p *page) items(items []item, in recallArgs, cursor func(before int) string) {
	show, first := choose(items, p.room-footer, in.Limit)
	left := 0
	for i, it := range items {
		if !show[i] {
			left++
			continue
		}
		text := it.text
		if room := p.room - footer; len(text) >= room {
			text = shorten(text, room-1, in.Tokens)
		}
		p.line(text)
	}
	if left > 0 {
		p.line(fmt.Sprintf("%d earlier left out: cursor %s", left, quote(cursor(first))))
	}
}

// choose picks what to show in so many bytes: the newest item, whatever its
// size; summaries, newest first, in at most half the room; and of the rest the
// newest. All items from first on are shown. A limit of 0 is none.
func choose(items []item, room, limit int) (show []bool, first int) {
	show = make([]bool, len(items))
	if limit == 0 {
		limit = len(items)
	}
	take := func(i, most int) bool {
		cost := len(items[i].text) + 1
		if show[i] {
			return true
		}
		if limit == 0 || cost > most {
			return false
		}
		show[i] = true
		room -= cost
		limit--
		return true
	}
	newest := len(items) - 1
	take(newest, len(items[newest].text)+1)
	half := room / 2
	for i := newest - 1; i >= 0; i-- {
		if items[i].summary {
			take(i, room-half)
		}
	}
	for first = newest; first > 0 && take(first-1, room); first-- {
	}
	return show, first
}

// shorten cuts a thought that is larger than the page, and says how to have all
// of it.
func shorten(text string, room, tokens int) string {
	rest := sequent.Tokens(text) - room/bytesPerToken
	mark := fmt.Sprintf("\n  (cut, %d tokens more: maxTokens %d shows all)", rest, tokens+rest+footer/bytesPerToken)
	return cut(text, max(room-len(mark), 0)) + mark
}
