// Package drafts has the thoughts that language models are writing, for those who watch
// their sessions in the same process.
package drafts

import (
	"slices"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent"
)

// A Draft is a thought as far as it is written.
type Draft struct {
	ID     int // differs between drafts of a process
	Branch string
	Number int
	Text   string
}

// A Board has the drafts of all sessions. It is safe for concurrent use.
type Board struct {
	mu   sync.Mutex
	last int // ID of the last draft
	by   map[sequent.Key]*page
}

// A page has the drafts of a session.
type page struct {
	drafts  []*writing    // in the order in which they began
	changed chan struct{} // closed at the next change
	readers int           // that wait for a change
}

type writing struct {
	Draft
	text strings.Builder
}

// New returns an empty board.
func New() *Board { return &Board{by: make(map[sequent.Key]*page)} }

// Begin adds a draft. The caller calls piece with each piece of the text, and end at the
// end. Piece is nil if the session is not followed.
func (b *Board) Begin(key sequent.Key, branch string, number int) (piece func(text string), end func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[key] == nil {
		return nil, func() {}
	}
	b.last++
	w := &writing{Draft: Draft{ID: b.last, Branch: branch, Number: number}}
	b.change(key, func(p *page) { p.drafts = append(p.drafts, w) })
	piece = func(text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.change(key, func(*page) { w.text.WriteString(text) })
	}
	return piece, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.change(key, func(p *page) {
			p.drafts = slices.DeleteFunc(p.drafts, func(o *writing) bool { return o == w })
		})
	}
}

// page returns the page of a session, a new one if necessary. The caller holds mu.
func (b *Board) page(key sequent.Key) *page {
	p := b.by[key]
	if p == nil {
		p = &page{changed: make(chan struct{})}
		b.by[key] = p
	}
	return p
}

// change changes a page and tells its readers. The caller holds mu.
func (b *Board) change(key sequent.Key, f func(*page)) {
	p := b.page(key)
	f(p)
	close(p.changed)
	p.changed = make(chan struct{})
	b.forget(key, p)
}

// forget removes a page that nobody needs. The caller holds mu.
func (b *Board) forget(key sequent.Key, p *page) {
	if len(p.drafts) == 0 && p.readers == 0 {
		delete(b.by, key)
	}
}

// Follow returns a function that returns the drafts of a session and a channel that is
// closed when they change. The caller calls stop at the end.
func (b *Board) Follow(key sequent.Key) (read func() ([]Draft, <-chan struct{}), stop func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.page(key)
	p.readers++
	read = func() (list []Draft, changed <-chan struct{}) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, w := range p.drafts {
			d := w.Draft
			d.Text = w.text.String()
			list = append(list, d)
		}
		return list, p.changed
	}
	return read, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		p.readers--
		b.forget(key, p)
	}
}
