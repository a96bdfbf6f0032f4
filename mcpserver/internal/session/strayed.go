package session

import "time"

const (
	// maxEarly is how many cancellations wait for their requests.
	maxEarly = 64
	// maxFinished is how many requests are known to have ended.
	maxFinished = 64
	// earlyFor is how long a cancellation waits for its request.
	earlyFor = 30 * time.Second
)

// strayed has the cancellations of requests that are not known yet. Over HTTP
// each message has a connection of its own: a client that gives up a request
// soon can have its cancellation served first. A cancellation can also come too
// late, so that the requests which ended lately are remembered too: their ids
// must not cancel anything else.
type strayed struct {
	waiting []stray
	ended   [maxFinished]string
	at      int // where the next goes in ended
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

// claim reports whether a request was cancelled before it came.
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
