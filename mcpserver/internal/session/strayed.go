package session

import "time"

const (
	// maxEarly limits the cancellations that wait for their requests.
	maxEarly = 64
	// maxFinished limits the remembered requests that have ended.
	maxFinished = 64
	// earlyFor limits how long a cancellation waits for its request.
	earlyFor = 30 * time.Second
)

// strayed has the cancellations of requests that have not arrived. Over HTTP each message
// can use its own connection, so a cancellation can be served before its request. It can
// also arrive after the reply, so the latest ended requests are remembered: a
// cancellation of one must not cancel a later request.
type strayed struct {
	waiting []stray
	ended   [maxFinished]string
	at      int // index of the next entry in ended
}

type stray struct {
	key string
	at  time.Time
}

// early remembers a cancellation, unless its request has ended.
func (s *strayed) early(key string, now time.Time) {
	if key == "" {
		return
	}
	for _, k := range s.ended {
		if k == key {
			return
		}
	}
	if len(s.waiting) == maxEarly {
		s.waiting = append(s.waiting[:0], s.waiting[1:]...)
	}
	s.waiting = append(s.waiting, stray{key, now})
}

// claim reports whether a request was cancelled before it arrived.
func (s *strayed) claim(key string) bool {
	for i, w := range s.waiting {
		if w.key == key {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return time.Since(w.at) < earlyFor
		}
	}
	return false
}

// finished remembers a request that has ended.
func (s *strayed) finished(key string) {
	s.ended[s.at] = key
	s.at = (s.at + 1) % maxFinished
}
