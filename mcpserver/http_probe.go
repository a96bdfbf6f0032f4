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
	// readyPatience is how long a look at readiness may take.
	readyPatience = 2 * time.Second
	// readyFor is how long what was seen is good, so that those who ask often, as
	// anybody may, cost the store nothing.
	readyFor = time.Second
)

// A readiness tells whether calls make sense, for all who ask.
type readiness struct {
	check func(context.Context) error // nil for always

	mu  sync.Mutex // held during a look: who asks meanwhile waits for it
	at  time.Time  // of the last look
	why string     // not, then; empty for ready
}

// ask returns why calls make no sense now, in a word, or "". The error says more,
// to the first who is told a new reason.
func (r *readiness) ask(ctx context.Context) (why string, err error) {
	if r.check == nil {
		return "", nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < readyFor {
		return r.why, nil
	}
	// Not the context of who asks: others get to know, too.
	limited, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	err = r.check(limited)
	was := r.why
	switch {
	case err == nil:
		r.why = ""
	case limited.Err() != nil:
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
	path := v.r.URL.Path
	if path != healthPath && path != readyPath {
		return false
	}
	switch {
	case !v.ownName():
	case v.r.Method != http.MethodGet && v.r.Method != http.MethodHead:
		v.w.Header().Set("Allow", "GET, HEAD")
		v.refuse(http.StatusMethodNotAllowed, "%s is asked with GET", path)
	case path == healthPath:
		v.send(http.StatusOK, []byte(`{"status":"ok"}`+"\n"))
	default:
		v.ready()
	}
	return true
}

func (v *visit) ready() {
	why := "draining"
	if !v.h.draining.Load() {
		var err error
		if why, err = v.h.readiness.ask(v.h.aborting); err != nil {
			v.h.logger.Warn("the server is not ready", "error", err)
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
	body, _ := marshal(state) // strings and numbers cannot fail
	v.send(code, append(body, '\n'))
}
