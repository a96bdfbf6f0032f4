package web

import "github.com/sequent-dev/sequent/internal/drafts"

// A Writing is what was added to a thought that a model is writing.
type Writing struct {
	ID     int    `json:"id"`
	Branch string `json:"branch,omitzero"`
	Number int    `json:"number,omitzero"`
	From   int    `json:"from"` // bytes of the text before; 0 for the beginning
	Text   string `json:"text,omitzero"`
	Over   bool   `json:"over,omitzero"` // it is stored, or was given up
}

// A board has what a client knows of the drafts of a session.
type board struct {
	read func() ([]drafts.Draft, <-chan struct{}) // nil for none
	sent map[int]int                              // bytes of the text, by ID
}

// take returns what the client does not know, and a channel that is closed at the next
// change; nil if there are no drafts.
func (b *board) take() (news []Writing, changed <-chan struct{}) {
	if b.read == nil {
		return nil, nil
	}
	list, changed := b.read()
	known := b.sent
	b.sent = make(map[int]int, len(list))
	for _, d := range list {
		from, ok := known[d.ID]
		if !ok || len(d.Text) > from {
			news = append(news, Writing{ID: d.ID, Branch: d.Branch, Number: d.Number, From: from, Text: d.Text[from:]})
		}
		b.sent[d.ID] = len(d.Text)
		delete(known, d.ID)
	}
	for id := range known {
		news = append(news, Writing{ID: id, Over: true})
	}
	return news, changed
}
