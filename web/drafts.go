package web

import (
	"slices"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent"
)

// A Draft is a thought as far as a language model has written it.
type Draft struct {
	ID     int    `json:"id"` // differs between drafts of a process
	Branch string `json:"branch,omitempty"`
	Number int    `json:"number,omitempty"`
	Text   string `json:"text"`
}

// Drafts has the thoughts that models are writing, for those who follow their sessions in the
// same process. It is safe for concurrent use.
type Drafts struct {
	mu        sync.Mutex
	last      int                        // ID of the last draft
	followers map[sequent.Key]int        // streams of a session
	drafts    map[sequent.Key][]*writing // in the order in which they began
}

type writing struct {
	Draft
	text strings.Builder
}

// NewDrafts returns a Drafts without drafts.
func NewDrafts() *Drafts {
	return &Drafts{followers: make(map[sequent.Key]int), drafts: make(map[sequent.Key][]*writing)}
}

// Begin adds a draft. The caller calls piece with each piece of the text, and end at the
// end. Piece is nil if no client follows the session.
func (d *Drafts) Begin(key sequent.Key, branch string, number int) (piece func(text string), end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.followers[key] == 0 {
		return nil, func() {}
	}
	d.last++
	w := &writing{Draft: Draft{ID: d.last, Branch: branch, Number: number}}
	d.drafts[key] = append(d.drafts[key], w)
	piece = func(text string) {
		d.mu.Lock()
		defer d.mu.Unlock()
		w.text.WriteString(text)
	}
	return piece, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.drafts[key] = slices.DeleteFunc(d.drafts[key], func(o *writing) bool { return o == w }); len(d.drafts[key]) == 0 {
			delete(d.drafts, key)
		}
	}
}

// of returns the drafts of a session; none of a nil Drafts.
func (d *Drafts) of(key sequent.Key) []Draft {
	list := []Draft{}
	if d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, w := range d.drafts[key] {
			list = append(list, Draft{w.ID, w.Branch, w.Number, w.text.String()})
		}
	}
	return list
}

// follow counts a stream of a session until stop is called.
func (d *Drafts) follow(key sequent.Key) (stop func()) {
	if d == nil {
		return func() {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.followers[key]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.followers[key]--; d.followers[key] == 0 {
			delete(d.followers, key)
		}
	}
}
