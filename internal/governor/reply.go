package governor

import (
	"context"
	"time"
)

const (
	// unknownReply is the expected size of the first reply of a kind.
	unknownReply = 256 << 10
	// minReply is the least expected size of a reply.
	minReply = 16 << 10
	// replyWindow is how long the size of a reply is remembered: at least so long, at
	// most twice.
	replyWindow = 5 * time.Minute
	// maxReplyKinds limits how many kinds of replies are told apart for a subject.
	maxReplyKinds = 64
)

// A replySize is the largest reply of a kind in two periods of replyWindow.
type replySize struct {
	since    time.Time // when the current period began
	max, old int64     // in the current and the previous one
	known    bool
}

func (z *replySize) expected(now time.Time) int64 {
	z.turn(now)
	if !z.known {
		return unknownReply
	}
	return max(z.max, z.old, minReply)
}

func (z *replySize) note(n int64, now time.Time) {
	z.turn(now)
	z.max, z.known = max(z.max, n), true
}

func (z *replySize) turn(now time.Time) {
	switch age := now.Sub(z.since); {
	case age >= 2*replyWindow:
		z.max, z.old, z.since = 0, 0, now
	case age >= replyWindow:
		z.max, z.old, z.since = 0, z.max, now
	}
}

// A Reply is the memory of a reply, from before it is made until it is sent. It is
// not safe for concurrent use.
type Reply struct {
	subject *Subject
	size    *replySize
	held    int64 // of BytesOut
	made    int64 // 0 before Made
}

// Reply waits for the memory of a reply that is yet to be made. How much that will be
// is not known before, so it is taken to be the largest reply of its kind to the
// subject in the last minutes. The caller must call [Reply.Sent].
func (s *Subject) Reply(ctx context.Context, kind string) (*Reply, error) {
	s.g.mu.Lock()
	size := s.replies[kind]
	if size == nil && len(s.replies) >= maxReplyKinds {
		kind = ""
		size = s.replies[kind]
	}
	if size == nil {
		if s.replies == nil {
			s.replies = make(map[string]*replySize)
		}
		size = new(replySize)
		s.replies[kind] = size
	}
	n := size.expected(time.Now())
	if limit := s.g.limits[BytesOut]; limit >= 0 {
		n = max(1, min(n, limit/2)) // or it would wait for ever
	}
	s.g.mu.Unlock()
	if err := s.Wait(ctx, BytesOut, n); err != nil {
		return nil, err
	}
	return &Reply{subject: s, size: size, held: n}, nil
}

// Made says that the reply has n bytes. It returns a [*Refusal] if that, together with
// what the subject has not read yet, is more than its share.
func (r *Reply) Made(n int64) error {
	s, g := r.subject, r.subject.g
	g.mu.Lock()
	r.size.note(n, time.Now())
	if limit := g.limits[BytesOut]; limit >= 0 && s.unsent+n > s.share(BytesOut) {
		refusal := s.refusal(BytesOut, n)
		refusal.Held = s.unsent
		g.mu.Unlock()
		g.log.add(refusal)
		return refusal
	}
	s.add(BytesOut, n-r.held) // even if other replies are expected to need as much
	r.held, r.made = n, n
	s.unsent += n
	g.grant(BytesOut)
	g.mu.Unlock()
	return nil
}

// Sent gives back the memory of the reply.
func (r *Reply) Sent() {
	s, g := r.subject, r.subject.g
	g.mu.Lock()
	defer g.mu.Unlock()
	s.unsent -= r.made
	s.add(BytesOut, -r.held)
	r.held, r.made = 0, 0
	g.grant(BytesOut)
}
