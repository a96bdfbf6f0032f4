package telemetry

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// A queueConfig configures a spanQueue.
type queueConfig struct {
	Most    int           // spans that wait or are being sent; further ones are dropped
	Batch   int           // spans of one request to the collector
	Delay   time.Duration // after which fewer are sent
	Timeout time.Duration // of one export, with its retries
	Room    int           // bytes that a batch has before its spans, for those of the message
}

// maxSpare is how many buffers are kept for batches: one that is being filled while the
// other is being sent.
const maxSpare = 2

// envQueue returns the configuration of the environment. The batches are larger than those that
// the specification proposes, 512 of 2,048 spans: a request to the collector costs as much as
// hundreds of spans in it.
func envQueue(getenv func(string) string) queueConfig {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(getenv("OTEL_BSP_" + name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	c := queueConfig{
		Most: number("MAX_QUEUE_SIZE", 8192), Batch: number("MAX_EXPORT_BATCH_SIZE", 2048),
		Delay:   time.Duration(number("SCHEDULE_DELAY", 5000)) * time.Millisecond,
		Timeout: time.Duration(number("EXPORT_TIMEOUT", 30000)) * time.Millisecond,
	}
	c.Batch = min(c.Batch, c.Most)
	return c
}

// scopeSpans is the field of the spans in a ScopeSpans.
const scopeSpans = 2

// A spanQueue collects encoded spans and has them exported in batches by a goroutine of its own,
// which is woken at the first span and at the last of a batch, not at each.
type spanQueue struct {
	config queueConfig
	export func(ctx context.Context, spans []byte) // reports its errors itself

	mu      sync.Mutex
	batches []batch // full ones, and one that is being filled at the end
	count   int     // of spans in batches and in the one that is being sent
	closed  bool
	spare   [][]byte // buffers of batches that were sent

	some, full chan struct{} // have one element when there are spans, and a full batch
	stop       chan struct{}
	done       chan struct{}
	cancel     context.CancelFunc // of the exports
}

// A batch has room for the beginning of one request to the collector, and its spans, as the
// fields of a ScopeSpans.
type batch struct {
	spans []byte
	count int
}

// newSpanQueue starts the goroutine. The caller must call close.
func newSpanQueue(c queueConfig, export func(context.Context, []byte)) *spanQueue {
	ctx, cancel := context.WithCancel(context.Background())
	q := &spanQueue{
		config: c, export: export, cancel: cancel,
		some: make(chan struct{}, 1), full: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go q.run(ctx)
	return q
}

// add adds a span, or drops it if too many wait. It does not keep the slice.
func (q *spanQueue) add(span []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.count >= q.config.Most {
		return
	}
	if n := len(q.batches); n == 0 || q.batches[n-1].count == q.config.Batch {
		var buf []byte
		if n := len(q.spare); n > 0 {
			buf, q.spare = q.spare[n-1], q.spare[:n-1]
		}
		q.batches = append(q.batches, batch{spans: append(buf, make([]byte, q.config.Room)...)})
	}
	last := &q.batches[len(q.batches)-1]
	last.spans = protowire.AppendTag(last.spans, scopeSpans, protowire.BytesType)
	last.spans = protowire.AppendBytes(last.spans, span)
	last.count++
	q.count++
	if last.count == 1 {
		notify(q.some)
	}
	if last.count == q.config.Batch {
		notify(q.full)
	}
}

// notify wakes who waits for c, now or next.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// run exports until the queue is closed, and then what is left.
func (q *spanQueue) run(ctx context.Context) {
	defer close(q.done)
	timer := time.NewTimer(q.config.Delay)
	defer timer.Stop()
	for {
		select {
		case <-q.some:
		case <-q.stop:
			q.send(ctx, q.take(1))
			return
		}
		timer.Reset(q.config.Delay)
		for waiting := true; waiting; {
			select {
			case <-q.full:
				q.send(ctx, q.take(q.config.Batch))
				waiting = !q.empty()
			case <-timer.C:
				q.send(ctx, q.take(1))
				waiting = false
			case <-q.stop:
				waiting = false
			}
		}
	}
}

// empty reports whether there is no span to send.
func (q *spanQueue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.batches) == 0
}

// take takes the batches that have at least some number of spans.
func (q *spanQueue) take(least int) []batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.batches)
	if n > 0 && q.batches[n-1].count < least {
		n--
	}
	taken := slices.Clone(q.batches[:n])
	q.batches = slices.Delete(q.batches, 0, n)
	return taken
}

// send exports batches.
func (q *spanQueue) send(ctx context.Context, batches []batch) {
	for _, b := range batches {
		one, cancel := context.WithTimeoutCause(ctx, q.config.Timeout, errTimeout)
		q.export(one, b.spans)
		cancel()
		q.mu.Lock()
		q.count -= b.count
		if len(q.spare) < maxSpare {
			q.spare = append(q.spare, b.spans[:0])
		}
		q.mu.Unlock()
	}
}

var errTimeout = errors.New("the collector does not answer in time")

// close exports what is left until ctx is done, and waits for the goroutine.
func (q *spanQueue) close(ctx context.Context) {
	q.mu.Lock()
	first := !q.closed
	q.closed = true
	q.mu.Unlock()
	if first {
		close(q.stop)
	}
	stop := context.AfterFunc(ctx, q.cancel)
	<-q.done
	stop()
	q.cancel()
}
