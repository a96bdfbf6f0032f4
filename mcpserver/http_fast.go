package mcpserver

import (
	"context"
	"net/http"
	"sync"

	"github.com/sequent-dev/sequent/tool"
)

// What is remembered of clients that the SDK has accepted.
const (
	maxJudged      = 64
	maxJudgedBytes = 4 << 10 // of each
)

// A jury remembers what requests of the modern era said about their client and
// the SDK accepted. Over HTTP each request says it again, and there are many
// clients, most of them of a few kinds.
type jury struct {
	mu    sync.RWMutex
	known map[string]bool // capabilities, and what names the client
}

func (j *jury) accepts(p *plainCall) bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	var key [512]byte
	return j.known[string(appendClient(key[:0], p))] // which makes no string
}

// accept remembers what a request said. If it is one too many, all before are
// forgotten: nobody can keep others out for long.
func (j *jury) accept(p *plainCall) {
	if len(p.capabilities)+len(p.client) > maxJudgedBytes || j.accepts(p) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.known == nil || len(j.known) >= maxJudged {
		j.known = make(map[string]bool)
	}
	j.known[string(appendClient(nil, p))] = true
}

// appendClient appends what a call says about its client. One that names none
// differs from all that do.
func appendClient(b []byte, p *plainCall) []byte {
	b = append(b, p.capabilities...)
	return append(b, p.client...) // both are objects, or nothing
}

// tool returns which of our tools a request of the modern era is a plain call of;
// nil if it is not one, or if the SDK has to see it. Reports of progress need a
// stream, which is the SDK's way.
func (v *visit) tool(p *plainCall) *tool.Tool {
	if !p.ok || p.token != nil || !v.accepts("application/json") || !v.server.clients.accepts(p) {
		return nil
	}
	return v.server.toolNamed(p.name)
}

// call answers a plain call of a tool. The call ends when the client is gone, or
// the time is up that Shutdown leaves.
func (v *visit) call(t *tool.Tool, e *envelope, p *plainCall) {
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.h.aborting, cancel)()
	s := v.server
	reply, fault := s.callPlain(ctx, t, tool.Call{Args: p.args, Caller: v.caller})
	if fault == nil {
		line, err := s.appendReply(make([]byte, 0, s.roomFor(e, reply)), e, reply)
		if err == nil {
			v.send(http.StatusOK, line)
			return
		}
		fault = s.internal(methodCallTool, t.Name, err)
	}
	fault = s.wireError(methodCallTool, fault)
	v.send(statusOf(true, fault), errorLine(e.id, fault))
}
