package mcpserver

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/sequent-dev/sequent/internal/limits"
)

// identify makes the client with a name the one whom the limits are for.
func (v *visit) identify(name string) {
	if v.client != nil {
		v.client.Release()
	}
	v.client = v.h.limiter.Client(name)
}

// take takes a stream until the visit ends. If it reports false it has answered.
func (v *visit) takeStream(id []byte) bool {
	if err := v.client.Take(limits.Streams); err != nil {
		v.refuseFor(err, id)
		return false
	}
	v.streams++
	return true
}

// giveCall gives back the call of the visit and its turn, if it holds them.
func (v *visit) giveCall() {
	v.turn.Give()
	if v.calls > 0 {
		v.calls--
		v.client.Give(limits.Calls)
	}
}

// end gives back what the visit holds.
func (v *visit) end() {
	if v.client == nil {
		return
	}
	v.giveCall()
	for range v.streams {
		v.client.Give(limits.Streams)
	}
	v.client.Release()
}

// refuseFor answers that a limit is reached.
func (v *visit) refuseFor(err error, id []byte) {
	v.refuseMessage(id, cmp.Or(refused(err), errCancelled))
}

// refuseMessage answers that a message is not accepted.
func (v *visit) refuseMessage(id []byte, fault *rpcError) {
	v.pause(fault)
	v.fail(statusOf(true, fault), id, fault)
}

// pause delays the answer to a client that is refused again and again. Meanwhile it holds
// nothing that others of the client wait for.
func (v *visit) pause(fault *rpcError) {
	if fault == nil || fault.Code != codeTooMany {
		return
	}
	delay := v.client.Delay()
	if delay == 0 {
		return
	}
	v.giveCall()
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
