package mcpserver

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"
)

// A progress tells a client how far its call is. The client wants to know if it
// has named a token in the call.
type progress struct {
	token json.RawMessage   // as the client wrote it
	give  func(line []byte) // sends it, or drops it if it would have to wait

	mu   sync.Mutex
	said bool
	last float64 // what was said last
	over bool    // the call has its reply
}

// newProgress returns what reports on a call with that token; nil if there is
// none, or it is not what the protocol takes for one.
func newProgress(token json.RawMessage, give func(line []byte)) *progress {
	if !isID(token) { // a token is what an id is
		return nil
	}
	return &progress{token: token, give: give}
}

// reporter returns what a tool calls; nil if nobody wants to know.
func (p *progress) reporter() func(message string, done, total float64) {
	if p == nil {
		return nil
	}
	return p.report
}

// report says how far the call is. The protocol has it that the number grows, and
// that nothing is said after the reply.
func (p *progress) report(message string, done, total float64) {
	if math.IsNaN(done) || math.IsInf(done, 0) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.said && done <= p.last {
		return
	}
	p.said, p.last = true, done
	line := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), p.token...)
	line = append(line, `,"progress":`...)
	line = strconv.AppendFloat(line, done, 'f', -1, 64)
	if total > 0 && !math.IsInf(total, 0) {
		line = append(line, `,"total":`...)
		line = strconv.AppendFloat(line, total, 'f', -1, 64)
	}
	if message != "" {
		line = append(line, `,"message":`...)
		line = appendQuoted(line, message)
	}
	p.give(append(line, "}}\n"...))
}

// end makes report say nothing any more.
func (p *progress) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// progressToken returns the token that a request names; nil if it names none.
func progressToken(params json.RawMessage) (token json.RawMessage) {
	for name, value := range members(params) {
		if name != "_meta" {
			continue
		}
		token = nil
		for name, value := range members(value) {
			if name == metaProgress {
				token = value
			}
		}
	}
	return token
}
