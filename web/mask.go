package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

const (
	// maxMasked is the maximum number of bytes of the log of a session behind a link. Masking takes
	// half a second for the most expensive MiB.
	maxMasked = 4 << 20
	// maxKept is that of all masked sessions in memory, each of which takes about three times its log.
	maxKept = 16 << 20
)

// unmaskable refuses to show a session that has a secret where it cannot be masked.
func unmaskable(err error) error {
	if e, ok := errors.AsType[*sequent.Error](err); ok && e.Code != sequent.CodeCanceled {
		return &Refusal{
			Status: http.StatusForbidden, Code: "not_maskable", Message: "the secrets of this session cannot be masked: " + e.Msg,
		}
	}
	return err
}

// session returns a session as the client may see it: with a link, its secrets are masked.
func (x *exchange) session(ctx context.Context, id sequent.ID) (*sequent.Session, error) {
	if x.linked == nil {
		return x.engine.Session(ctx, id)
	}
	s, err := x.sessionOf(ctx, x.linked)
	if err != nil {
		return nil, err
	}
	return x.h.masked.session(ctx, x.engine, s)
}

// A maskedSession is a session with its secrets masked.
type maskedSession struct {
	*sequent.Session
	key  sequent.Key      // of the original, as is at
	at   sequent.Position // when it was masked
	size int64            // bytes of the log
}

// masked has the masked sessions that were used last.
type masked struct {
	turn chan struct{} // sessions are masked one at a time, since each takes memory
	mu   sync.Mutex    // guards kept
	kept []maskedSession
}

// find returns the masked session with a key if it is as a position says.
func (m *masked) find(k sequent.Key, at sequent.Position) *sequent.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.kept {
		if s.key == k && s.at == at {
			return s.Session
		}
	}
	return nil
}

// session returns a session of an engine, masked.
func (m *masked) session(ctx context.Context, e *sequent.Engine, s *sequent.Session) (*sequent.Session, error) {
	if found := m.find(s.Key(), s.Position()); found != nil {
		return found, nil
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "masking was cancelled", Err: ctx.Err()}
	}
	if found := m.find(s.Key(), s.Position()); found != nil { // masked meanwhile
		return found, nil
	}
	h, entries, err := e.Entries(ctx, s.ID(), sequent.Position{})
	if err != nil {
		return nil, err
	}
	if h.Bytes > maxMasked {
		return nil, &Refusal{
			Status: http.StatusForbidden, Code: "too_large",
			Message: fmt.Sprintf("the session has %d MiB, and a link shows at most %d MiB", h.Bytes>>20, maxMasked>>20),
			Fix:     "ask the sender of the link for an export of the session",
		}
	}
	made := maskedSession{key: h.Key, at: h.Position(), size: h.Bytes}
	if h, entries, _, err = redact.Session(ctx, h, entries, redact.Secrets()); err == nil {
		made.Session, err = redact.Snapshot(ctx, h, entries)
	}
	if err != nil {
		return nil, unmaskable(err)
	}
	m.keep(made)
	return made.Session, nil
}

// keep keeps a masked session instead of an earlier state of it, and forgets the oldest while all
// have more than maxKept bytes.
func (m *masked) keep(made maskedSession) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := append(slices.DeleteFunc(m.kept, func(s maskedSession) bool { return s.key == made.key }), made)
	total := int64(0)
	for i := len(list) - 1; i >= 0; i-- {
		if total += list[i].size; total > maxKept {
			list = slices.Delete(list, 0, i+1)
			break
		}
	}
	m.kept = list
}

// sameTexts reports whether the first n thoughts of two masked states of a session read alike. A later
// thought can reveal that an earlier one has a secret.
func sameTexts(a, b *sequent.Session, n int) bool {
	for i := range n {
		x, ok := a.At(i + 1)
		y, also := b.At(i + 1)
		if ok != also || x.Text != y.Text || x.Note != y.Note || x.Branch != y.Branch {
			return false
		}
	}
	return true
}
