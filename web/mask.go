package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

// A masking says which texts are masked, in a file or behind a link.
type masking struct {
	Secrets bool     `json:"secrets,omitempty"` // keys, tokens and passwords of known forms
	Redact  []string `json:"redact,omitempty"`  // regular expressions
}

// maxPatterns is the maximum number of expressions in a request.
const maxPatterns = 32

// secrets are the patterns of known forms.
var secrets = sync.OnceValue(redact.Secrets)

func (m *masking) patterns() ([]redact.Pattern, error) {
	if len(m.Redact) > maxPatterns {
		return nil, invalid("redact", "has more than "+strconv.Itoa(maxPatterns)+" expressions")
	}
	var patterns []redact.Pattern
	for i, text := range m.Redact {
		expr, err := regexp.Compile(text)
		if err != nil {
			return nil, invalid("redact", "has an invalid regular expression: "+err.Error())
		}
		patterns = append(patterns, redact.Pattern{Name: "--redact " + strconv.Itoa(i+1), Expr: expr}) // it may be the secret itself
	}
	if m.Secrets {
		patterns = append(patterns, secrets()...)
	}
	return patterns, nil
}

// text returns the masking for [sequent.Share]; empty if it masks nothing.
func (m *masking) text() string {
	if !m.Secrets && len(m.Redact) == 0 {
		return ""
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic("web: " + err.Error()) // it has no types that fail
	}
	return string(b)
}

// masksOf returns the patterns of a share; nil if it masks nothing. An error means that the session
// must not be shown.
func masksOf(s *sequent.Share) ([]redact.Pattern, error) {
	if s.Mask == "" {
		return nil, nil
	}
	var m masking
	if err := json.Unmarshal([]byte(s.Mask), &m); err != nil {
		return nil, fmt.Errorf("web: what the link %s masks cannot be read: %w", s.ID(), err)
	}
	patterns, err := m.patterns()
	if err == nil && len(patterns) == 0 {
		err = errors.New("web: the link " + s.ID() + " masks nothing that this program knows")
	}
	return patterns, err
}

// unmaskable is the refusal of expressions that match what cannot be masked.
func unmaskable(err error) *Refusal {
	return invalid("redact", "matches what cannot be masked: "+err.Error())
}

// errUnmaskable refuses to show a session that has a secret where it cannot be masked.
var errUnmaskable = &Refusal{
	Status: http.StatusForbidden, Code: "not_maskable", Message: "the session has a text that this link masks in a place where it cannot be masked",
	Fix: "ask whoever sent the link for an export of the session",
}

// session returns a session as the visitor may see it: a link can mask texts.
func (v *visit) session(ctx context.Context, id sequent.ID) (*sequent.Session, error) {
	if v.masks == nil {
		return v.engine.Session(ctx, id)
	}
	k := maskedKey{sequent.Key{Owner: v.engine.Owner(), ID: id}, v.shared.Mask}
	at, err := v.engine.Position(ctx, id, v.h.masked.position(k))
	if err != nil {
		return nil, err
	}
	if s := v.h.masked.get(k, at); s != nil {
		return s, nil
	}
	h, entries, err := v.engine.Entries(ctx, id)
	if err != nil {
		return nil, err
	}
	at, size := h.Position(), h.Bytes
	if h, entries, _, err = redact.Session(h, entries, v.masks); err != nil {
		return nil, errUnmaskable
	}
	s, err := redact.Snapshot(ctx, h, entries)
	if err == nil && size <= maxMaskedBytes {
		v.h.masked.put(masked{k, at, s})
	}
	return s, err
}

// Limits of the masked sessions in memory.
const (
	maxMasked      = 8
	maxMaskedBytes = 4 << 20 // of the log of each
)

// maskedSessions are sessions that were masked last. A page makes several requests for one, and
// masking reads the whole log. The zero maskedSessions is ready for use.
type maskedSessions struct {
	mu   sync.Mutex
	list []masked // the last used is the last
}

// A maskedKey names a masked session.
type maskedKey struct {
	sequent.Key
	mask string // of the share
}

// A masked is a masked session, and the position of the original.
type masked struct {
	maskedKey
	at      sequent.Position
	session *sequent.Session
}

// find returns the place of a session in the list, or -1. The caller holds mu.
func (m *maskedSessions) find(k maskedKey) int {
	return slices.IndexFunc(m.list, func(s masked) bool { return s.maskedKey == k })
}

// position returns the position of the session in memory; zero if there is none.
func (m *maskedSessions) position(k maskedKey) (at sequent.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.find(k); i >= 0 {
		at = m.list[i].at
	}
	return at
}

// get returns the session at a position, or nil.
func (m *maskedSessions) get(k maskedKey, at sequent.Position) *sequent.Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.find(k)
	if i < 0 || m.list[i].at != at {
		return nil
	}
	s := m.list[i]
	m.list = append(slices.Delete(m.list, i, i+1), s)
	return s.session
}

func (m *maskedSessions) put(s masked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.find(s.maskedKey); i >= 0 {
		m.list = slices.Delete(m.list, i, i+1)
	}
	if len(m.list) == maxMasked {
		m.list = slices.Delete(m.list, 0, 1)
	}
	m.list = append(m.list, s)
}

// sameTexts reports whether the first n thoughts of two snapshots of a session read alike. A later
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
