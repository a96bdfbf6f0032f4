package attacks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/e2e/programtest"
)

// maxMemory is how much memory the server may take during an attack.
const maxMemory = 512 << 20

// TestAttacks has one client attack the server in each of these ways. Another one, with a session
// and an open stream from before, thinks meanwhile. The server ends under attack.
func TestAttacks(t *testing.T) {
	program := programtest.Build(t) // SEQUENT_PROGRAM can name another version
	for name, attack := range map[string]func(*mallory){
		"streams": streams, "half-open": halfOpen, "bodies": bodies, "replies": replies, "watches": watches, "requests": requests,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			m := &mallory{ctx: ctx}
			t.Cleanup(func() { stop(); m.running.Wait() }) // after the server has ended
			h := newHouse(t, program)
			session, stream := h.older("alice", h.dialer("127.0.0.1"))
			quiet := h.together(attackTime/2, nil)
			m.house, m.from = h, h.dialer("127.0.0.2")
			attack(m)
			busy := h.together(attackTime, nil)
			peak := h.memory("VmHWM:")
			if got, err := programtest.Do(h.clients["alice"], programtest.Older(t, h.origin+"/mcp", h.tokens["alice"], session, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)); err != nil || got.Status != http.StatusOK {
				t.Errorf("alice's MCP session: %d %s, %v", got.Status, got.Body, err)
			}
			_ = stream.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
			if _, err := io.Copy(io.Discard, stream); err == nil {
				t.Error("alice's stream was ended")
			}
			t.Logf("alice: quiet %s; attack %s; %d refused; peak memory %d MiB", quiet, busy, m.refused.Load(), peak>>20)
			if busy.p99 > 2*time.Second {
				t.Errorf("p99 of alice's calls is %v", busy.p99)
			}
			if peak > maxMemory {
				t.Errorf("the server took %d MiB, want at most %d", peak>>20, maxMemory>>20)
			}
		})
	}
}

// A mallory attacks a server from an address of its own.
type mallory struct {
	*house
	from    *net.Dialer
	ctx     context.Context // done when the attack ends
	running sync.WaitGroup  // goroutines of the attack
	refused atomic.Int64    // requests and connections
}

// dial connects until the attack ends. What cannot be connected counts as refused.
func (m *mallory) dial() (c net.Conn, r *bufio.Reader, ok bool) {
	c, err := m.from.DialContext(m.ctx, "tcp", m.address())
	if err != nil {
		m.refused.Add(1)
		return nil, nil, false
	}
	context.AfterFunc(m.ctx, func() { c.Close() })
	return c, bufio.NewReader(c), true
}

// repeat calls f from a number of goroutines until the attack ends, as fast as f is.
func (m *mallory) repeat(goroutines int, f func()) {
	for range goroutines {
		m.running.Go(func() {
			for m.ctx.Err() == nil {
				f()
			}
		})
	}
}

// wait waits until a condition holds.
func (m *mallory) wait(what string, f func() bool) {
	for end := time.Now().Add(2 * time.Minute); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			m.Fatalf("still not: %s", what)
		}
	}
}

// request returns a request of the attacker as it goes over the wire.
func (m *mallory) request(method, name, params string) string {
	var b bytes.Buffer
	if err := programtest.Request(m, m.origin+"/mcp", m.tokens["mallory"], method, name, params).Write(&b); err != nil {
		m.Fatal(err)
	}
	return b.String()
}

// ask sends a request on a connection and reads its reply.
func ask(c net.Conn, r *bufio.Reader, request string) (*http.Response, []byte, error) {
	if _, err := io.WriteString(c, request); err != nil {
		return nil, nil, err
	}
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, body, err
}

// think records a thought before the attack, and returns its session.
func (m *mallory) think(text, session string) string {
	m.Helper()
	got, err := programtest.Do(m.clients["mallory"], programtest.Request(m, m.origin+"/mcp", m.tokens["mallory"], "tools/call", "sequentialthinking", programtest.Thought(text, session)))
	_, id, found := strings.Cut(got.Body, `"structuredContent":{"sessionId":"`)
	if err != nil || !found && session == "" {
		m.Fatalf("a thought got %.300s, %v", got.Body, err)
	}
	if session != "" {
		return session
	}
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// streams opens MCP sessions with an open stream each until it is refused, and goes on trying.
func streams(m *mallory) {
	var open atomic.Int64
	begin := programtest.Older(m, m.origin+"/mcp", m.tokens["mallory"], "", initialize)
	var hello bytes.Buffer
	if err := begin.Write(&hello); err != nil {
		m.Fatal(err)
	}
	m.repeat(32, func() {
		c, r, ok := m.dial()
		if !ok {
			return
		}
		res, _, err := ask(c, r, hello.String())
		if err == nil && res.StatusCode == http.StatusOK {
			if _, err = io.WriteString(c, m.follow("mallory", res.Header.Get("Mcp-Session-Id"))); err == nil {
				res, err = http.ReadResponse(r, nil)
			}
		}
		if err != nil || res.StatusCode != http.StatusOK {
			m.refused.Add(1)
			c.Close()
			return
		}
		open.Add(1)
	})
	m.wait("500 streams", func() bool { return open.Load() >= 500 && m.refused.Load() > 0 })
	time.Sleep(time.Second) // what was refused could be beyond the rate only
	if n := open.Load(); n > 500 {
		m.Errorf("%d streams are open, want at most 500", n)
	}
}

// halfOpen keeps 9,000 connections open on which no header ever ends, and opens those
// again that the server closes, each a second later.
func halfOpen(m *mallory) {
	const most = 9000
	var open atomic.Int64
	room := make(chan struct{}, most)
	m.repeat(8, func() {
		select {
		case room <- struct{}{}:
		case <-m.ctx.Done():
			return
		}
		c, r, ok := m.dial()
		m.running.Go(func() {
			if ok {
				open.Add(1)
				if _, err := io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-"); err == nil {
					_, _ = io.Copy(io.Discard, r) // until the server closes it
				}
				open.Add(-1)
				c.Close()
			}
			m.refused.Add(1)
			select {
			case <-time.After(time.Second):
				<-room
			case <-m.ctx.Done():
			}
		})
	})
	m.wait("9,000 connections", func() bool { return open.Load()+m.refused.Load() >= most })
	if n := open.Load(); n > most/2 { // 1,000, and those that the server is about to close
		m.Errorf("%d connections are open, want about 1,000", n)
	}
}

// bodies sends messages of 4 MiB without their last byte, more than maxMemory of them, and one
// that announces 100 GB.
func bodies(m *mallory) {
	const count = 150
	whole := m.request("tools/call", "sequentialthinking", `"x":"`+strings.Repeat("x", 4<<20-1000)+`"`)
	head, body, _ := strings.Cut(whole, "\r\n\r\n")
	announced := fmt.Sprintf("Content-Length: %d", len(body))
	c, r, ok := m.dial()
	if !ok {
		m.Fatal("no connection")
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second)) // less than the time for a message
	res, _, err := ask(c, r, strings.Replace(head, announced, "Content-Length: 99999999999", 1)+"\r\n\r\n{")
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		m.Errorf("Content-Length: 99999999999 got %v, %v; want 413 at once", res, err)
	}
	var begun atomic.Int64
	m.repeat(count, func() {
		c, r, ok := m.dial()
		if !ok {
			return
		}
		defer c.Close()
		_, err := io.WriteString(c, whole[:len(whole)-1])
		begun.Add(1)
		if err == nil {
			res, err = http.ReadResponse(r, nil)
		}
		if err != nil || res.StatusCode == http.StatusTooManyRequests {
			m.refused.Add(1)
			time.Sleep(50 * time.Millisecond)
		}
	})
	m.wait("all bodies", func() bool { return begun.Load() >= count })
}

// replies reads a document of nearly a megabyte, the most that is sent, again and again on many
// connections, and takes nothing of what it gets.
func replies(m *mallory) {
	const count = 80
	session := ""
	for range 15 {
		session = m.think(strings.Repeat("x", 65_000), session)
	}
	uri := "sequent://sessions/" + session
	request := m.request("resources/read", uri, fmt.Sprintf(`"uri":%q`, uri))
	var sent atomic.Int64
	m.repeat(count, func() {
		c, _, ok := m.dial()
		if !ok {
			return
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, err := io.WriteString(c, request)
		sent.Add(1)
		for (err == nil || errors.Is(err, os.ErrDeadlineExceeded)) && m.ctx.Err() == nil {
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			_, err = io.WriteString(c, request) // while the replies find room in between
		}
		m.refused.Add(1)
	})
	m.wait("all requests", func() bool { return sent.Load() >= count })
}

// watches subscribes to 100 sessions on 100 streams and changes them all the time.
func watches(m *mallory) {
	var uris, changes []string
	for range 100 {
		session := m.think("x", "")
		uris = append(uris, fmt.Sprintf(`"sequent://sessions/%s"`, session))
		changes = append(changes, m.request("tools/call", "sequentialthinking", programtest.Thought("x", session)))
	}
	request := m.request("subscriptions/listen", "", `"notifications":{"resourceSubscriptions":[`+strings.Join(uris, ",")+`]}`)
	for range 120 {
		m.running.Go(func() {
			c, r, ok := m.dial()
			if !ok {
				return
			}
			if _, _, err := ask(c, r, request); err != nil { // with the end of the attack
				m.refused.Add(1)
			}
		})
	}
	m.flood(2, changes)
}

// requests sends cheap calls on 64 connections, far above its rate.
func requests(m *mallory) { m.flood(64, []string{m.request("tools/list", "", "")}) }

// flood sends requests on some connections, each as soon as the one before is answered.
func (m *mallory) flood(connections int, requests []string) {
	var n atomic.Int64
	m.repeat(connections, func() {
		c, r, ok := m.dial()
		if !ok {
			return
		}
		defer c.Close()
		for m.ctx.Err() == nil {
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			res, body, err := ask(c, r, requests[int(n.Add(1))%len(requests)])
			if err != nil {
				return
			}
			if res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"result"`)) {
				m.refused.Add(1)
			}
		}
	})
	m.wait("the first requests", func() bool { return n.Load() >= int64(connections) })
}
