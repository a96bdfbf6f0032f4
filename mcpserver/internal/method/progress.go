package method

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"

	"github.com/sequent-dev/sequent/mcpserver/internal/message"
)

// A Progress reports the progress of a tool call to the client, if the call has a token.
type Progress struct {
	token json.RawMessage // as written by the client
	to    Offerer

	mu   sync.Mutex
	said bool
	last float64 // the last reported value
	over bool    // the call has been answered
}

// An Offerer sends a line, or drops it if it would have to wait.
type Offerer interface{ Offer(line []byte) }

// NewProgress returns the Progress of a request; nil if it does not call a tool, or has
// no valid token.
func NewProgress(m *message.Message, to Offerer) *Progress {
	if m.Method != callTool || !message.IsID(m.Meta.ProgressToken) { // tokens have the form of ids
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

// End stops reports.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
