package command

import (
	"context"
	"net"
	"os"
	"strconv"
	"sync"
	"time"
)

// notifyTimeout limits how long the service manager holds up the server.
const notifyTimeout = time.Second

// notifyAtEnd tells the service manager when ctx ends. The caller must call the returned
// function before it exits.
func (p *program) notifyAtEnd(ctx context.Context) func() {
	told := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(told)
		p.notify(ctx, "STOPPING=1\nSTATUS=answering the calls that have begun")
	})
	return func() {
		if !stop() {
			<-told
		}
	}
}

// managed reports whether a service manager runs the program and is to be notified.
func (p *program) managed() bool { return p.getenv("NOTIFY_SOCKET") != "" }

// feedWatchdog tells the service manager that the program runs, twice in each period in which
// the manager waits for that (sd_watchdog_enabled(3)), until the returned function is called.
// A manager that waits for longer kills the program.
func (p *program) feedWatchdog(ctx context.Context) func() {
	period, err := strconv.ParseInt(p.getenv("WATCHDOG_USEC"), 10, 64)
	if pid := p.getenv("WATCHDOG_PID"); err != nil || period < 2 || pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // also while the program drains
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(time.Duration(period) * time.Microsecond / 2)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.notify(ctx, "WATCHDOG=1")
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// notify tells the service manager about the state of the server, such as READY=1, as
// sd_notify(3) does. Without a service manager that asked for it nothing happens.
func (p *program) notify(ctx context.Context, state string) {
	socket := p.getenv("NOTIFY_SOCKET")
	if socket == "" {
		return
	}
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(ctx), "unixgram", socket)
	if err == nil {
		if err = conn.SetWriteDeadline(time.Now().Add(notifyTimeout)); err == nil {
			_, err = conn.Write([]byte(state))
		}
		_ = conn.Close()
	}
	if err != nil {
		p.config().Logger.WarnContext(ctx, "the service manager was not told about the server", "state", state, "error", err)
	}
}
