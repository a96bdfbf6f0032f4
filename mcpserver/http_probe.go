package mcpserver

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// The paths at which load balancers and supervisors ask how the server is.
const (
	healthPath = "/healthz" // the process answers
	readyPath  = "/readyz"  // and wants calls
)

const (
	// checkTimeout limits a check of readiness.
	checkTimeout = 2 * time.Second
	// readyFor is how long its result is good, so that those who ask often, as
	// anybody may, cost the store nothing.
	readyFor = time.Second
)

// A readiness tells whether calls make sense, for all who ask.
type readiness struct {
	check func(context.Context) error // nil for always

	mu  sync.Mutex // held during a check: who asks meanwhile waits for it
	at  time.Time  // of the last check
	why string     // not, then; empty for ready
}

// ask returns why calls make no sense now, in a word, or "". The error says more,
// to the first who is told a new reason.
func (r *readiness) ask(ctx context.Context) (why string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.check == nil || !r.at.IsZero() && time.Since(r.at) < readyFor {
		return r.why, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	err = r.check(ctx)
	was := r.why
	switch {
	case err == nil:
		r.why = ""
	case ctx.Err() != nil:
		r.why = "store_timeout"
	default:
		r.why = string(sequent.CodeOf(err))
	}
	r.at = time.Now()
	if r.why == was {
		err = nil
	}
	return r.why, err
}

// probe answers a question about the server itself, and reports whether it was
// one. Everybody who reaches the server under a name of its own may ask.
func (v *visit) probe() bool {
	switch {
	case v.path != healthPath && v.path != readyPath:
		return false
	case !v.ownName():
	case v.path == healthPath:
		v.send(http.StatusOK, []byte(`{"status":"ok"}`+"\n"), nil)
	default:
		v.ready()
	}
	return true
}

func (v *visit) ready() {
	why := "draining"
	if !v.h.draining.Load() {
		var err error
		// Not the context of who asks: others get to know, too.
		if why, err = v.h.readiness.ask(v.h.aborting); err != nil {
			v.h.config.Logger.Warn("the server is not ready", "error", err)
		}
	}
	state := struct {
		Status       string `json:"status"`
		Reason       string `json:"reason,omitempty"`
		AuditLost    uint64 `json:"auditLinesLost,omitempty"`
		AuditFailing bool   `json:"auditFailing,omitempty"`
	}{Status: "ready", Reason: why}
	if unlogged := v.h.config.Unlogged; unlogged != nil {
		state.AuditLost, state.AuditFailing = unlogged()
	}
	code := http.StatusOK
	if why != "" {
		state.Status, code = "not ready", http.StatusServiceUnavailable
		v.w.Header().Set("Retry-After", "1")
	}
	v.send(code, append(mustMarshal(state), '\n'), nil)
}
