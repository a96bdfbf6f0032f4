package sequent

import (
	"slices"
	"sync"
	"time"
)

// A queue has the jobs that wait for a commit. The first of several concurrent
// callers commits for all of them, so that many changes share one transaction
// and one fsync. See decision 0080.
//
// One batch is under way at a time, unless it takes long: then another lane
// commits what waits for other sessions, if the store commits several batches at
// a time. Each session is in one batch at a time, so its changes stay in order.
type queue struct {
	lanes int // maximum number of batches under way; 0 if the store does not skip writes

	mu      sync.Mutex
	waiting []*job
	gather  chan struct{}    // wakes the leader that gathers a batch; nil if no leader does
	wanted  int              // number of waiting jobs at which gather is woken
	prompt  int              // lanes that are not late
	running []*lane          // the others, and those that are late
	aside   []*lane          // lanes with a single session each
	busy    map[Key]struct{} // sessions in running and aside; nil if lanes is 0

	lastBatch int           // number of jobs in the last batch
	lastTime  time.Duration // that its commit took
}

// A lane commits one batch. The first of its jobs leads it.
type lane struct {
	jobs    []*job
	aside   bool      // the lane waits for one session that the store has skipped
	late    bool      // the lane has taken longer than lateAfter
	started time.Time // when its jobs were taken
	timer   *time.Timer
}

const (
	// maxBatch bounds the jobs of one commit. More only make it longer.
	maxBatch = 256

	// lateAfter is how long a batch may take before another lane opens.
	lateAfter = 10 * time.Millisecond
)

// A laneStore is a [Store] that commits several batches at a time, and skips writes
// as [Write.Try] says.
type laneStore interface {
	Store
	Lanes() int // maximum number of batches at a time; at least 1
}

func (q *queue) init(s Store) {
	if s, ok := s.(laneStore); ok {
		q.lanes, q.busy = max(s.Lanes(), 1), make(map[Key]struct{})
	}
}

// enter reports whether a job leads a lane at once. If not, it waits.
func (q *queue) enter(j *job) (leads bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mayOpen() && !q.isBusy(j.key) {
		q.open(j)
		return true
	}
	j.wake = make(chan struct{}, 1)
	q.waiting = append(q.waiting, j)
	if q.gather != nil && len(q.waiting) >= q.wanted {
		close(q.gather)
		q.gather = nil
	}
	return false
}

// The methods that follow are for callers that hold mu.

// mayOpen reports whether another lane may open.
func (q *queue) mayOpen() bool { return q.prompt == 0 && len(q.running) < max(q.lanes, 1) }

func (q *queue) isBusy(k Key) bool {
	_, busy := q.busy[k]
	return busy
}

// open opens a lane that j leads.
func (q *queue) open(j *job) {
	q.prompt++
	q.running = append(q.running, &j.lane)
	if q.busy != nil {
		q.busy[j.key] = struct{}{}
	}
}

// pass opens a lane for the first waiting job that can lead one.
func (q *queue) pass() {
	if !q.mayOpen() {
		return
	}
	i := slices.IndexFunc(q.waiting, func(j *job) bool { return !q.isBusy(j.key) })
	if i < 0 {
		return
	}
	j := q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	q.open(j)
	j.wake <- struct{}{}
}

// take gives the lane of self its jobs: self, and those that wait and whose session
// is in no other lane.
func (q *queue) take(self *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.awaitBatch(self)
	l := &self.lane
	l.jobs = append(make([]*job, 0, min(len(q.waiting), maxBatch-1)+1), self)
	if q.busy == nil {
		n := cap(l.jobs) - 1
		l.jobs = append(l.jobs, q.waiting[:n]...)
		q.waiting = slices.Delete(q.waiting, 0, n)
	} else {
		q.waiting = slices.DeleteFunc(q.waiting, func(j *job) bool {
			if len(l.jobs) == maxBatch || j.key != self.key && q.isBusy(j.key) {
				return false
			}
			l.jobs = append(l.jobs, j)
			return true
		})
		for _, j := range l.jobs {
			q.busy[j.key] = struct{}{}
		}
	}
	l.started = time.Now()
	if q.lanes > 1 {
		l.timer = time.AfterFunc(lateAfter, func() { q.overtake(l) })
	}
}

// awaitBatch waits until as many jobs wait as the last batch had, or a part of the
// time of its commit has passed. The callers of the last batch are about to submit
// their next jobs; without the wait, the first of them would get a commit for
// itself. There is none for a lone caller, nor where commits take less than 160 µs.
// It unlocks mu meanwhile.
func (q *queue) awaitBatch(self *job) {
	const minWait, maxWait = 20 * time.Microsecond, time.Millisecond
	wait := min(q.lastTime/8, maxWait)
	if wait < minWait {
		return
	}
	others := 0 // jobs that wait for another lane
	for _, j := range q.waiting {
		if j.key != self.key && q.isBusy(j.key) {
			others++
		}
	}
	if 1+len(q.waiting)-others >= q.lastBatch {
		return
	}
	gather := make(chan struct{})
	q.gather, q.wanted = gather, q.lastBatch-1+others
	q.mu.Unlock()
	timer := time.NewTimer(wait)
	select {
	case <-gather:
	case <-timer.C:
	}
	timer.Stop()
	q.mu.Lock()
	q.gather = nil
}

// overtake makes room for another lane beside one that takes long.
func (q *queue) overtake(l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.Contains(q.running, l) {
		l.late = true
		q.prompt--
		q.pass()
	}
}

// leave closes a lane and returns its jobs that are done. Each session whose write
// was skipped gets a lane of its own.
func (q *queue) leave(l *lane) (done []*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	isLane := func(other *lane) bool { return other == l }
	jobs := l.jobs
	if l.aside {
		q.aside = slices.DeleteFunc(q.aside, isLane)
	} else {
		q.running = slices.DeleteFunc(q.running, isLane)
		if !l.late {
			q.prompt--
			q.lastBatch, q.lastTime = len(jobs), time.Since(l.started)
		}
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	for _, j := range jobs {
		delete(q.busy, j.key)
	}
	done = jobs
	if slices.ContainsFunc(jobs, func(j *job) bool { return j.err == errSkipped }) {
		done = q.setAside(jobs)
	}
	q.pass()
	return done
}

// setAside opens a lane for each session whose write was skipped. It returns the
// other jobs.
func (q *queue) setAside(jobs []*job) (done []*job) {
	self := jobs[0]
	leaders := make(map[Key]*job)
	for _, j := range jobs {
		if j.err != errSkipped {
			done = append(done, j)
			continue
		}
		leader := leaders[j.key]
		if leader == nil {
			leader = j
			leaders[j.key] = j
			j.lane = lane{aside: true, started: time.Now()}
			q.aside = append(q.aside, &j.lane)
			q.busy[j.key] = struct{}{}
		}
		leader.lane.jobs = append(leader.lane.jobs, j)
	}
	for _, j := range leaders {
		if j != self {
			j.wake <- struct{}{}
		}
	}
	return done
}

// withdraw removes a job that waits, and reports whether it did.
func (q *queue) withdraw(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, j)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// Stalled tells how many commits the store has not answered for long; see
// [Engine.Stalled].
type Stalled struct {
	Batches  int  // batches of changes of several sessions
	Sessions int  // sessions that another process has locked, each with its changes
	All      bool // no other batch can be committed meanwhile
}

// Stalled returns how many commits have been under way for longer than limit.
func (e *Engine) Stalled(limit time.Duration) (s Stalled) {
	if e.core == nil {
		return s
	}
	q := &e.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	stalled := func(lanes []*lane) (n int) {
		for _, l := range lanes {
			if !l.started.IsZero() && time.Since(l.started) > limit {
				n++
			}
		}
		return n
	}
	s.Batches, s.Sessions = stalled(q.running), stalled(q.aside)
	s.All = s.Batches >= max(q.lanes, 1)
	return s
}
