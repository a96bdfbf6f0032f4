package streamhttp

import (
	"math"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
)

// identify makes the client with a name the one whom the limits are for.
func (v *visit) identify(name string) {
	if v.client != nil {
		v.client.Release()
	}
	v.client = v.h.governor.Subject(name)
}

// take takes n units of a resource until the visit ends. If it reports false it has
// answered.
func (v *visit) take(r governor.Resource, n int64, id []byte) bool {
	if err := v.hold(r, n); err != nil {
		v.refuseFor(err, id)
		return false
	}
	return true
}

// hold takes n units of a resource until the visit ends.
func (v *visit) hold(r governor.Resource, n int64) error {
	if err := v.client.Take(r, n); err != nil {
		return err
	}
	v.held[r] += n
	return nil
}

// drop gives back all of a resource that the visit holds.
func (v *visit) drop(r governor.Resource) {
	if n := v.held[r]; n > 0 {
		v.held[r] = 0
		v.client.Give(r, n)
	}
}

// end gives back what the visit holds.
func (v *visit) end() {
	if v.client == nil {
		return
	}
	v.dropAll()
	v.client.Release()
}

// dropAll gives back everything that the visit holds.
func (v *visit) dropAll() {
	for r := range v.held {
		v.drop(governor.Resource(r))
	}
}

// refuseFor answers that a limit is reached.
func (v *visit) refuseFor(err error, id []byte) {
	fault := method.Refused(err)
	if fault == nil { // the request was cancelled
		fault = message.ErrCancelled
	}
	v.pause(fault)
	v.fail(statusOf(true, fault), id, fault)
}

// pause delays the answer to a client that is refused again and again. It may not wait
// with anything that others need.
func (v *visit) pause(fault *message.Error) {
	if fault == nil || fault.Code != message.CodeTooMany {
		return
	}
	delay := v.client.Delay()
	if delay == 0 {
		return
	}
	v.dropAll()
	t := time.NewTimer(delay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-v.r.Context().Done():
	case <-v.h.ending.Done():
	}
}

// retryAfter tells the client when to try again.
func (v *visit) retryAfter(d time.Duration) {
	if d > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(d.Seconds()))))
	}
}
