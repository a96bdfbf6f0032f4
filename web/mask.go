package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

const (
	// maxMasked is the maximum number of bytes of the log of a session behind a link. Masking takes
	// half a second for the most expensive MiB.
	maxMasked = 4 << 20
	// maxKept is how many masked sessions are in memory, each of which takes about three times its log.
	maxKept = 4
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
	key sequent.Key      // of the original, as is at
	at  sequent.Position // when it was masked
}

// masked has the masked sessions that were made last. Sessions are masked one at a time, since
// each takes memory.
type masked struct {
	turn chan struct{} // holds one value, and with it guards kept
	kept []maskedSession
}

// session returns a session of an engine, masked.
func (m *masked) session(ctx context.Context, e *sequent.Engine, s *sequent.Session) (*sequent.Session, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, &sequent.Error{Code: sequent.CodeCanceled, Msg: "masking was cancelled", Err: ctx.Err()}
	}
	for _, kept := range m.kept {
		if kept.key == s.Key() && kept.at == s.Position() {
			return kept.Session, nil
		}
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
	made := maskedSession{key: h.Key, at: h.Position()}
	if h, entries, _, err = redact.Session(ctx, h, entries, redact.Secrets()); err == nil {
		made.Session, err = redact.Snapshot(ctx, h, entries)
	}
	if err != nil {
		return nil, unmaskable(err)
	}
	m.kept = append(slices.DeleteFunc(m.kept, func(s maskedSession) bool { return s.key == made.key }), made)
	if len(m.kept) > maxKept {
		m.kept = slices.Delete(m.kept, 0, 1)
	}
	return made.Session, nil
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
