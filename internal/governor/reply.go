package governor

import (
	"context"
	"time"
)

const (
	// unknownReply is the expected size of the first reply of a kind.
	unknownReply = 256 << 10
	// maxFirstReplies is how many replies of a kind are made at once while the size of
	// none is known. Others wait. They may take long but be small, so twice as many are
	// made at once after each firstReplyWait.
	maxFirstReplies = 2
	firstReplyWait  = time.Second
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
	learned  chan struct{} // closed when known is set
	first    int           // replies that are made while it is not
	begun    time.Time     // when the oldest of them was
}

// room reports whether another reply may be made.
func (z *replySize) room(now time.Time) bool {
	const most = 20 // doublings, more than any server has calls
	return z.known || z.first < maxFirstReplies<<min(now.Sub(z.begun)/firstReplyWait, most)
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
	if z.max = max(z.max, n); !z.known {
		z.known = true
		close(z.learned)
	}
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
	first   bool  // counts as one of size.first
}

// Reply waits for the memory of a reply that is yet to be made. How much that will be
// is not known before, so it is taken to be the largest reply of its kind to the
// subject in the last minutes. The first replies of a kind are made a few at a time, so
// that large ones are noticed before there are many. The caller must call [Reply.Sent].
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
		size = &replySize{learned: make(chan struct{})}
		s.replies[kind] = size
	}
	for !size.room(time.Now()) && ctx.Err() == nil {
		s.g.mu.Unlock()
		if err := size.learn(ctx, s.g.ending); err != nil {
			return nil, err
		}
		s.g.mu.Lock()
	}
	r := &Reply{subject: s, size: size, first: !size.known}
	if r.first {
		if size.first == 0 {
			size.begun = time.Now()
		}
		size.first++
	}
	n := size.expected(time.Now())
	if limit := s.g.limits[BytesOut]; limit >= 0 {
		n = max(1, min(n, limit/2)) // or it would wait for ever
	}
	s.g.mu.Unlock()
	if err := s.Wait(ctx, BytesOut, n); err != nil {
		r.Sent()
		return nil, err
	}
	r.held = n
	return r, nil
}

// learn waits until the size is known, but not for long. It returns ErrEnding if ending is
// closed.
func (z *replySize) learn(ctx context.Context, ending <-chan struct{}) error {
	t := time.NewTimer(firstReplyWait / 10)
	defer t.Stop()
	select {
	case <-z.learned:
	case <-t.C:
	case <-ctx.Done():
	case <-ending:
		return ErrEnding
	}
	return nil
}

// Made says that the reply has n bytes, or that an error of n bytes replaces one of made
// bytes. It returns a [*Refusal] if n, together with what the subject has not read yet, is
// more than its share. It may be called again when more is known.
func (r *Reply) Made(n, made int64) error {
	s, g := r.subject, r.subject.g
	g.mu.Lock()
	r.size.note(made, time.Now())
	if limit := g.limits[BytesOut]; limit >= 0 && s.unsent-r.made+n > s.share(BytesOut) {
		refusal := s.refusal(BytesOut, n)
		refusal.Held = s.unsent - r.made
		g.mu.Unlock()
		g.log.add(refusal)
		return refusal
	}
	s.add(BytesOut, n-r.held) // even if other replies are expected to need as much
	s.unsent += n - r.made
	r.held, r.made = n, n
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
	if r.first {
		r.size.first--
	}
	r.held, r.made, r.first = 0, 0, false
	g.grant(BytesOut)
}
