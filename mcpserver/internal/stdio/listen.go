package stdio

import (
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/mcpserver/internal/session"
)

// listen begins a subscription. Its reply is sent when it ends. Until then it delays
// neither later calls nor the end of the connection.
func (c *conn) listen(call *session.Call, r *method.Request) {
	ctx, cancel, ok := c.session.Begin(c.ctx, call)
	if !ok {
		c.reply(call, nil)
		return
	}
	ctx, seen := c.observe(ctx, call)
	l, fault := session.Listen(ctx, c.server, r)
	seen.End(fault)
	switch {
	case fault != nil:
		cancel()
		c.reply(call, message.AppendError(nil, call.ID, fault))
	case l.Empty():
		cancel()
		c.reply(call, append(l.Acknowledgement(), l.Result()...))
	case c.limits.Take(governor.Streams, 1) != nil:
		cancel()
		l.Close()
		c.reply(call, message.AppendError(nil, call.ID, message.InvalidParams(
			"a connection may have %d subscriptions at a time: cancel some of them", maxListening)))
	default:
		_ = c.out.put(l.Acknowledgement()) // if that fails, the connection ends
		c.running.Go(func() {
			defer cancel()
			c.notify(l.Subscriptions, ctx.Done())
			l.Close()
			c.limits.Give(governor.Streams, 1)
			if !c.session.End(call) {
				_ = c.out.put(l.Result()) // if that fails, the connection ends
				c.out.flush()
			}
		})
		c.done(call)
	}
}

// notify sends notifications until done, or until the connection ends.
func (c *conn) notify(s *session.Subscriptions, done <-chan struct{}) {
	for {
		select {
		case <-s.Wake():
			for _, line := range s.Take() {
				_ = c.out.put(line) // if that fails, the connection ends
			}
			c.out.flush()
		case <-done:
			return
		case <-c.ending:
			return
		}
	}
}
