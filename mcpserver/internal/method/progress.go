package method

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
)

// textInterval is the time between two notifications with pieces of a text.
const textInterval = 100 * time.Millisecond

// maxUnsent limits the text that waits for a client that does not read, in bytes. A tool
// that produces more loses the rest of it; a thought is never that long.
const maxUnsent = 1 << 20

// A Progress reports the progress of a tool call to the client, if the call has a token.
// Reports are dropped if they would have to wait; the text that the call produces is kept
// until it is sent.
type Progress struct {
	token json.RawMessage // as written by the client
	to    Sender

	mu     sync.Mutex // guards the fields below
	said   bool
	last   float64 // the last reported value
	over   bool    // the call has been answered
	unsent []byte  // text
	next   time.Time
	timer  *time.Timer // sends the text; nil before there is any
	armed  bool
}

// A Sender sends lines to a client.
type Sender interface {
	// Offer sends a line. It returns false and drops the line if it would have to wait.
	Offer(line []byte) bool
	// Put sends a line, and may wait for a client that does not read.
	Put(line []byte)
}

// NewProgress returns the Progress of a request; nil if it does not call a tool, or has
// no valid token.
func NewProgress(m *message.Message, to Sender) *Progress {
	if m.Method != callTool || !message.IsID(m.Meta.ProgressToken) { // tokens have the form of ids
		return nil
	}
	return &Progress{token: m.Meta.ProgressToken, to: to}
}

// Attach lets the call of a request report to p, which may be nil.
func (p *Progress) Attach(r *Request) {
	if p != nil {
		r.Progress, r.Text = p.report, p.write
	}
}

// report reports progress. The protocol requires that the number grows, and allows no
// report after the reply.
func (p *Progress) report(doing string, done, total float64) {
	if math.IsNaN(done) || math.IsInf(done, 0) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.said && done <= p.last {
		return
	}
	p.said, p.last = true, done
	p.to.Offer(p.line(doing, total, false))
}

// line returns a notification of the last value.
func (p *Progress) line(doing string, total float64, text bool) []byte {
	line := message.OpenNotification(nil, "notifications/progress")
	if text {
		line = message.AppendName(line, "_meta")
		line = append(line, `{"`+message.MetaText+`":true}`...)
	}
	line = message.AppendName(line, "progressToken")
	line = append(line, p.token...)
	line = message.AppendName(line, "progress")
	line = strconv.AppendFloat(line, p.last, 'f', -1, 64)
	if total > 0 && !math.IsInf(total, 0) {
		line = message.AppendName(line, "total")
		line = strconv.AppendFloat(line, total, 'f', -1, 64)
	}
	if doing != "" {
		line = message.AppendName(line, "message")
		line = message.AppendQuoted(line, doing)
	}
	return message.CloseNotification(line)
}

// write reports a piece of a text.
func (p *Progress) write(piece string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || piece == "" || len(p.unsent)+len(piece) > maxUnsent {
		return
	}
	p.unsent = append(p.unsent, piece...)
	p.tell()
}

// tell sends the text, now or when textInterval is over. The caller holds mu.
func (p *Progress) tell() {
	if p.over || p.armed || len(p.unsent) == 0 {
		return
	}
	wait := time.Until(p.next)
	if wait <= 0 {
		p.next, wait = time.Now().Add(textInterval), textInterval
		if p.to.Offer(p.text()) {
			p.unsent = nil
			return
		}
	}
	p.armed = true
	if p.timer == nil {
		p.timer = time.AfterFunc(wait, p.due)
	} else {
		p.timer.Reset(wait)
	}
}

// due runs when textInterval is over.
func (p *Progress) due() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = false
	p.tell()
}

// text returns a notification of the text that was not sent.
func (p *Progress) text() []byte {
	p.said = true
	p.last++
	return p.line(string(p.unsent), 0, true)
}

// End sends the rest of the text and stops reports.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.over = true
	var rest []byte
	if len(p.unsent) > 0 {
		rest = p.text()
	}
	p.mu.Unlock()
	if rest != nil {
		p.to.Put(rest)
	}
}
