package mcpserver

import (
	"encoding/json"
	"math"
	"sync"
	"time"
)

// textInterval is the time between two notifications with pieces of a text.
const textInterval = 100 * time.Millisecond

// A progress reports the progress of a tool call to the client. A call waits for a client
// that does not read.
type progress struct {
	token  json.RawMessage // as written by the client
	notify func(line []byte)

	mu     sync.Mutex  // guards the fields below
	last   float64     // the last reported value; -1 before the first
	over   bool        // the call has been answered
	unsent []byte      // text
	next   time.Time   // before which no text is sent
	timer  *time.Timer // sends the text; nil if none waits
}

// progress returns the progress of a call; nil if the client has not asked for it with a
// valid token.
func (r *request) progress() *progress {
	if r.Notify == nil || !isID(r.Meta.ProgressToken) { // tokens have the form of ids
		return nil
	}
	return &progress{token: r.Meta.ProgressToken, notify: r.Notify, last: -1}
}

// report reports progress. The protocol requires that the number grows, and allows no
// report after the reply.
func (p *progress) report(doing string, done, total float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || !(done > p.last) || math.IsInf(done, 1) { // or it is not a number
		return
	}
	p.last = done
	p.send(doing, total, nil)
}

// send sends a notification of the last value. The caller holds mu.
func (p *progress) send(message string, total float64, meta map[string]bool) {
	if !(total > 0) || math.IsInf(total, 1) {
		total = 0
	}
	p.notify(notification("notifications/progress", struct {
		Meta    map[string]bool `json:"_meta,omitempty"`
		Token   json.RawMessage `json:"progressToken"`
		Done    float64         `json:"progress"`
		Total   float64         `json:"total,omitempty"`
		Message string          `json:"message,omitempty"`
	}{meta, p.token, p.last, total, message}))
}

// write reports a piece of a text, now or together with what follows within textInterval.
func (p *progress) write(piece string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unsent = append(p.unsent, piece...)
	wait := time.Until(p.next)
	switch {
	case p.timer != nil:
	case wait <= 0:
		p.flush()
	default:
		p.timer = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.flush()
		})
	}
}

// flush sends the text. The caller holds mu.
func (p *progress) flush() {
	p.timer = nil
	if p.over || len(p.unsent) == 0 {
		return
	}
	p.last++
	p.send(string(p.unsent), 0, map[string]bool{metaText: true})
	p.unsent, p.next = nil, time.Now().Add(textInterval)
}

// end sends the rest of the text and stops reports.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.flush()
	p.over = true
}
