package limits

import (
	"container/list"
	"context"
	"time"

	"golang.org/x/time/rate"
)

// A Client is a client of the server, or several that cannot be told apart. It is safe for
// concurrent use.
type Client struct {
	l        *Limiter
	name     string
	units    [resources]chan struct{} // filled with what the client holds
	rate     *rate.Limiter
	refusals *rate.Limiter

	refs  int           // callers of Limiter.Client
	place *list.Element // in Limiter.idle while refs is 0
}

// Subject returns the name of the client that a subject of tokens is.
func Subject(subject string) string { return "subject " + subject }

// Retain returns the client for one more use, which ends with Release.
func (c *Client) Retain() *Client { return c.l.Client(c.name) }

// Release ends the caller's use of the client.
func (c *Client) Release() {
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.refs--; c.refs > 0 {
		return
	}
	c.place = l.idle.PushFront(c)
	if l.idle.Len() > maxIdle {
		delete(l.known, l.idle.Remove(l.idle.Back()).(*Client).name)
	}
}

// Take takes a unit of a resource. It returns a [*Refusal] if the client holds as many as
// it may.
func (c *Client) Take(r Resource) error {
	select {
	case c.units[r] <- struct{}{}:
		c.l.counts[r].used.Add(1)
		return nil
	default:
		return c.l.refuse(r, &Refusal{
			Limit: r.String(), Held: len(c.units[r]), RetryAfter: kinds[r].retry, client: c.name, kind: &kinds[r],
		})
	}
}

// Wait is Take, but waits for a unit, in the order of arrival. After ten seconds it returns
// a [*Refusal], when the server ends [ErrEnding]. If ctx is done before, it returns the
// error of ctx.
func (c *Client) Wait(ctx context.Context, r Resource) error {
	select {
	case c.units[r] <- struct{}{}:
		c.l.counts[r].used.Add(1)
		return nil
	default:
	}
	t := time.NewTimer(maxWait)
	defer t.Stop()
	select {
	case c.units[r] <- struct{}{}:
		c.l.counts[r].used.Add(1)
		return nil
	case <-t.C:
		return c.Take(r)
	case <-ctx.Done():
		return ctx.Err()
	case <-c.l.ending:
		return ErrEnding
	}
}

// Give returns a unit of a resource.
func (c *Client) Give(r Resource) {
	<-c.units[r]
	c.l.counts[r].used.Add(-1)
}

// Request counts a request. It returns a [*Refusal] if the client sends requests too fast;
// that request is not counted.
func (c *Client) Request() error {
	c.l.requests.Add(1)
	now := time.Now()
	reservation := c.rate.ReserveN(now, 1)
	wait := time.Second // a burst of 0 allows nothing
	if reservation.OK() {
		if wait = reservation.DelayFrom(now); wait == 0 {
			return nil
		}
		reservation.CancelAt(now)
	}
	c.l.throttled.Add(1)
	return &Refusal{Limit: "rate", RetryAfter: wait, rate: float64(c.l.rate)}
}

// Delay counts a refusal and returns how long the client should wait for it: not at
// all, unless it is refused far more often than a client that heeds refusals. So an
// attacker that waits for answers cannot take the processor by being refused.
func (c *Client) Delay() time.Duration {
	if c.refusals.Allow() {
		return 0
	}
	return refusalDelay
}
