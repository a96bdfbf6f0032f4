package method

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
)

// A Progress tells a client how far its call of a tool is, if the client named a
// token in the call.
type Progress struct {
	token json.RawMessage // as the client wrote it
	to    Offerer

	mu   sync.Mutex
	said bool
	last float64 // what was said last
	over bool    // the call has its reply
}

// An Offerer sends a line, or drops it where it would have to wait.
type Offerer interface{ Offer(line []byte) }

// NewProgress returns what reports on a request; nil if it does not call a tool,
// or names no valid token.
func NewProgress(m *message.Message, to Offerer) *Progress {
	if m.Method != callTool || !message.IsID(m.Meta.ProgressToken) { // a token is what an id is
		return nil
	}
	return &Progress{token: m.Meta.ProgressToken, to: to}
}

// Reporter returns the function that a tool calls; nil if p is nil.
func (p *Progress) Reporter() func(doing string, done, total float64) {
	if p == nil {
		return nil
	}
	return p.report
}

// report says how far the call is. By the protocol the number grows, and nothing
// is said after the reply.
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
	line := message.OpenNotification(nil, "notifications/progress")
	line = message.AppendName(line, "progressToken")
	line = append(line, p.token...)
	line = message.AppendName(line, "progress")
	line = strconv.AppendFloat(line, done, 'f', -1, 64)
	if total > 0 && !math.IsInf(total, 0) {
		line = message.AppendName(line, "total")
		line = strconv.AppendFloat(line, total, 'f', -1, 64)
	}
	if doing != "" {
		line = message.AppendName(line, "message")
		line = message.AppendQuoted(line, doing)
	}
	p.to.Offer(message.CloseNotification(line))
}

// End makes report say nothing any more.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
