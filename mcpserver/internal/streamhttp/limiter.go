package streamhttp

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients is how many clients a limiter remembers. The least recently seen is
// forgotten for the next; it has most likely all of its burst again.
const maxClients = 10_000

// A limiter bounds how often each client may come.
type limiter struct {
	rate  rate.Limit
	burst int

	mu      sync.Mutex
	clients map[string]*list.Element // of *clientRate
	recent  list.List                // the most recently seen client first
}

type clientRate struct {
	name  string
	limit *rate.Limiter
}

func newLimiter(perSecond float64, burst int) *limiter {
	return &limiter{rate: rate.Limit(perSecond), burst: burst, clients: make(map[string]*list.Element)}
}

// wait counts one visit of a client. If it is one too many it is not counted, and
// wait returns how long until there is room.
func (l *limiter) wait(client string) time.Duration {
	now := time.Now()
	r := l.of(client).ReserveN(now, 1)
	d := r.DelayFrom(now)
	if d > 0 {
		r.CancelAt(now)
	}
	return d
}

func (l *limiter) of(client string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.clients[client]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*clientRate).limit
	}
	if len(l.clients) >= maxClients {
		oldest := l.recent.Back()
		delete(l.clients, l.recent.Remove(oldest).(*clientRate).name)
	}
	c := &clientRate{name: client, limit: rate.NewLimiter(l.rate, l.burst)}
	l.clients[client] = l.recent.PushFront(c)
	return c.limit
}

// remote returns the part of a client's address that it cannot choose freely.
func remote(addr string) string {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return addr
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.Is6() && !ip.IsLoopback() {
		if p, err := ip.Prefix(64); err == nil { // what one customer has
			return p.String()
		}
	}
	return ip.String()
}
