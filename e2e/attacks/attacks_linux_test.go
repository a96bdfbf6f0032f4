package attacks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var attacks = map[string]func(*mallory){
	"streams": streams, "half-open": halfOpen, "bodies": bodies, "replies": replies,
	"watches": watches, "heavy": heavy, "requests": requests, "appends": appends,
}

// recording are the attacks that begin with thoughts.
var recording = map[string]bool{"replies": true, "watches": true, "heavy": true}

// streams opens MCP sessions with an open stream each until it is refused, and goes on trying.
func streams(m *mallory) {
	var open atomic.Int64
	m.repeat(32, func(int) {
		c, err := m.dial()
		if err != nil {
			m.refused.Add(1)
			return
		}
		r := bufio.NewReader(c)
		res, _, err := ask(c, r, m.request("initialize", "older", "", `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}`))
		if err != nil || res.StatusCode != http.StatusOK {
			m.refused.Add(1)
			c.Close()
			return
		}
		_, err = fmt.Fprintf(c, "GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\nMcp-Session-Id: %s\r\n\r\n",
			m.addr, m.token, res.Header.Get("Mcp-Session-Id"))
		if err == nil {
			res, err = http.ReadResponse(r, nil)
		}
		if err != nil || res.StatusCode != http.StatusOK {
			m.refused.Add(1)
			c.Close()
			return
		}
		open.Add(1)
		m.hold(c)
	})
	m.wait("500 streams", func() bool { return open.Load() >= 500 && m.refused.Load() > 0 })
	time.Sleep(time.Second) // what was refused could be beyond the rate only
	if n := open.Load(); n > 500 {
		m.fail("%d streams are open, want at most 500", n)
	}
	m.say("%d streams are open", open.Load())
}

// halfOpen keeps 9,000 connections open on which no header ever ends, and opens those
// again that the server closes, each a second later.
func halfOpen(m *mallory) {
	const most = 9000
	var open atomic.Int64
	room := make(chan struct{}, most)
	m.repeat(8, func(int) {
		select {
		case room <- struct{}{}:
		case <-m.ctx.Done():
			return
		}
		c, err := m.dial()
		if err == nil {
			open.Add(1)
			m.hold(c)
			_, err = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-")
		}
		m.running.Go(func() {
			if err == nil {
				_, _ = io.Copy(io.Discard, c) // until the server closes it
			}
			if c != nil {
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
		m.fail("%d connections are open, want about 1,000", n)
	}
	m.say("%d connections are open", open.Load())
}

// bodies sends messages of 4 MiB without their last byte, more than maxMemory of them, and one
// that announces 100 GB.
func bodies(m *mallory) {
	const size = 4 << 20
	count := many(150, 400)
	h := header(m.token, "", "tools/call", "sequentialthinking")
	c, err := m.dial()
	if err != nil {
		m.fail("%v", err)
	}
	defer c.Close()
	begun := time.Now()
	_ = c.SetDeadline(begun.Add(20 * time.Second)) // less than the time for a message
	res, _, err := ask(c, bufio.NewReader(c), m.raw("{", 99_999_999_998, h))
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		m.fail("Content-Length: 99999999999 got %v, %v; want 413 at once", res, err)
	}
	m.say("Content-Length: 99999999999 was refused after %d ms", time.Since(begun).Milliseconds())
	request := m.raw(`{"x":"`+strings.Repeat("x", size-10), 4, h)
	var begunAll atomic.Int64
	m.repeat(count, func(int) {
		c, err := m.dial()
		if err != nil {
			m.refused.Add(1)
			return
		}
		defer c.Close()
		_, err = io.WriteString(c, request)
		begunAll.Add(1)
		if err != nil {
			m.refused.Add(1)
			time.Sleep(50 * time.Millisecond)
			return
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil && res.StatusCode == http.StatusTooManyRequests {
			m.refused.Add(1)
			time.Sleep(50 * time.Millisecond)
		}
	})
	m.wait("all bodies", func() bool { return begunAll.Load() >= int64(count) })
}

// replies reads a document of a megabyte again and again on many connections, and takes
// nothing of what it gets.
func replies(m *mallory) {
	count := many(80, 200)
	c, err := m.dial()
	if err != nil {
		m.fail("%v", err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	args := fmt.Sprintf(`"thought":%q,"nextThoughtNeeded":true`, strings.Repeat("x", 65_000))
	var session string
	for range 15 { // a document of nearly a megabyte, the most that is sent
		more := args
		if session != "" {
			more += fmt.Sprintf(`,"sessionId":%q`, session)
		}
		body := m.must(c, r, m.request("tools/call", "", "sequentialthinking", `"name":"sequentialthinking","arguments":{`+more+`}`))
		if session == "" {
			session = sessionOf(m, body)
		}
	}
	uri := "sequent://sessions/" + session
	request := m.request("resources/read", "", uri, fmt.Sprintf(`"uri":%q`, uri))
	m.say("a reply has %d bytes", len(m.must(c, r, request)))
	var sent atomic.Int64
	m.repeat(count, func(int) {
		c, err := m.dial()
		if err != nil {
			m.refused.Add(1)
			return
		}
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
		_, err = io.WriteString(c, request)
		sent.Add(1)
		for (err == nil || errors.Is(err, os.ErrDeadlineExceeded)) && m.ctx.Err() == nil {
			_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			_, err = io.WriteString(c, request) // while the replies find room in between
		}
		m.refused.Add(1)
	})
	m.wait("all requests", func() bool { return sent.Load() >= int64(count) })
	time.Sleep(time.Second)
}

func sessionOf(m *mallory, body []byte) string {
	var reply struct {
		Result struct {
			StructuredContent struct {
				SessionID string `json:"sessionId"`
			} `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &reply); err != nil || reply.Result.StructuredContent.SessionID == "" {
		m.fail("a thought got %.300s, %v", body, err)
	}
	return reply.Result.StructuredContent.SessionID
}

// watches subscribes to 100 sessions on 100 streams and changes them all the time.
func watches(m *mallory) {
	c, err := m.dial()
	if err != nil {
		m.fail("%v", err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	var uris, sessions []string
	for range 100 {
		body := m.must(c, r, m.request("tools/call", "", "sequentialthinking", `"name":"sequentialthinking","arguments":{"thought":"x","thoughtNumber":1,"totalThoughts":9,"nextThoughtNeeded":true}`))
		session := sessionOf(m, body)
		sessions = append(sessions, session)
		uris = append(uris, fmt.Sprintf(`"sequent://sessions/%s"`, session))
	}
	request := m.request("subscriptions/listen", "", "", `"notifications":{"resourceSubscriptions":[`+strings.Join(uris, ",")+`]}`)
	var open atomic.Int64
	var all sync.WaitGroup
	for range 120 {
		all.Go(func() {
			c, err := m.dial()
			if err != nil {
				m.refused.Add(1)
				return
			}
			m.hold(c)
			_, err = io.WriteString(c, request)
			r := bufio.NewReader(c)
			res, e := http.ReadResponse(r, nil)
			if err = errors.Join(err, e); err != nil || res.StatusCode != http.StatusOK {
				m.refused.Add(1)
				return
			}
			open.Add(1)
			m.running.Go(func() { _, _ = io.Copy(io.Discard, r) })
		})
	}
	all.Wait()
	m.say("%d streams with 100 documents each are open", open.Load())
	m.flood(2, func(i int) string {
		return m.request("tools/call", "", "sequentialthinking",
			fmt.Sprintf(`"name":"sequentialthinking","arguments":{"thought":"x","nextThoughtNeeded":true,"sessionId":%q}`, sessions[i%len(sessions)]))
	})
}

// heavy searches and recalls a long session on 64 connections.
func heavy(m *mallory) {
	c, err := m.dial()
	if err != nil {
		m.fail("%v", err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	var session string
	for n := range 1000 {
		args := fmt.Sprintf(`"thought":"the plan has a step %d and %s","nextThoughtNeeded":true`, n, strings.Repeat("a word ", 100))
		if session != "" {
			args += fmt.Sprintf(`,"sessionId":%q`, session)
		}
		body := m.must(c, r, m.request("tools/call", "", "sequentialthinking", `"name":"sequentialthinking","arguments":{`+args+`}`))
		if session == "" {
			session = sessionOf(m, body)
		}
	}
	uri := "sequent://sessions/" + session
	kinds := []string{
		m.request("tools/call", "", "recall_thinking", `"name":"recall_thinking","arguments":{"query":"plan step word","limit":100}`),
		m.request("tools/call", "", "recall_thinking", fmt.Sprintf(`"name":"recall_thinking","arguments":{"sessionId":%q,"maxTokens":100000}`, session)),
		m.request("resources/read", "", uri, fmt.Sprintf(`"uri":%q`, uri)),
	}
	m.flood(64, func(i int) string { return kinds[i%len(kinds)] })
}

// requests sends cheap calls on 64 connections, far above its rate.
func requests(m *mallory) {
	request := m.request("tools/list", "", "", "")
	m.flood(64, func(int) string { return request })
}

// flood sends requests on some connections, each as soon as the one before is answered.
func (m *mallory) flood(connections int, request func(i int) string) {
	var n atomic.Int64
	m.repeat(connections, func(int) {
		c, err := m.dial()
		if err != nil {
			m.refused.Add(1)
			return
		}
		defer c.Close()
		r := bufio.NewReader(c)
		for m.ctx.Err() == nil {
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			res, body, err := ask(c, r, request(int(n.Add(1))))
			if err != nil {
				return
			}
			if res.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"result"`)) {
				if m.refused.Add(1) == 1 {
					m.say("the first refusal: %.300s", body)
				}
			}
		}
	})
	m.wait("the first requests", func() bool { return n.Load() >= int64(connections) })
}
