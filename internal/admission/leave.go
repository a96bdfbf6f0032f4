package admission

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Limits of what is read of a body that was refused.
const (
	maxRefused     = 16 << 20 // bytes
	refusedTimeout = 10 * time.Second
)

// ReadOn reads and drops the rest of a body whose request has been answered, until ending
// is done. A client that sends all of it before it reads would otherwise lose the answer
// when the connection is reset. The answer must have the header Connection: close.
func ReadOn(ending context.Context, w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	if r.ContentLength > maxRefused || control.Flush() != nil || control.SetReadDeadline(time.Now().Add(refusedTimeout)) != nil {
		return
	}
	defer context.AfterFunc(ending, func() { _ = control.SetReadDeadline(time.Now()) })() // the connection may be closed
	_, _ = io.CopyN(io.Discard, r.Body, maxRefused)                                       // the client may be gone
}

// FailureLevel returns the level at which a failure to answer a request is logged. A client
// that has left has caused it.
func FailureLevel(r *http.Request) slog.Level {
	if r.Context().Err() != nil {
		return slog.LevelDebug
	}
	return slog.LevelError
}
