package attacks

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A mallory attacks a server, from a process of its own that gives way to others: an
// attacker from elsewhere would not take the server's processor time.
type mallory struct {
	addr, token string
	from        net.IP          // the attacker's address
	among       bool            // others attack, too
	ctx         context.Context // done when the attack ends
	running     sync.WaitGroup  // goroutines of the attack
	refused     atomic.Int64    // requests and connections
}

// The environment of the attacker's process.
const (
	envAttack = "SEQUENT_ATTACK"
	envAddr   = "SEQUENT_ATTACK_ADDR"
	envTokens = "SEQUENT_ATTACK_TOKENS" // separated by commas, of different subjects
)

func TestMain(m *testing.M) {
	name := os.Getenv(envAttack)
	if name == "" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithCancel(context.Background())
	names := []string{name}
	if name == everything {
		names = slices.SortedFunc(maps.Keys(attacks), func(a, b string) int {
			if recording[a] != recording[b] {
				return map[bool]int{true: -1, false: 1}[recording[a]]
			}
			return -strings.Compare(a, b)
		})
	}
	tokens := strings.Split(os.Getenv(envTokens), ",")
	var all []*mallory
	var begun sync.WaitGroup
	for i, own := range names {
		x := &mallory{addr: os.Getenv(envAddr), token: tokens[i], from: net.IPv4(127, 0, 0, byte(2+i)), ctx: ctx, among: name == everything}
		all = append(all, x)
		if begun.Go(func() { attacks[own](x) }); recording[own] {
			begun.Wait() // before anything hinders it
		}
	}
	begun.Wait()
	all[0].say("ready")
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with the attack
	cancel()
	refused := int64(0)
	for _, x := range all {
		x.running.Wait()
		refused += x.refused.Load()
	}
	all[0].say("%d refused", refused)
}

// say prints a line for the test.
func (m *mallory) say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// fail ends an attack that does not come about.
func (m *mallory) fail(format string, args ...any) {
	m.say("failed: "+format, args...)
	os.Exit(1)
}

// dial connects from the attacker's address.
func (m *mallory) dial() (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: m.from}, Timeout: 10 * time.Second}
	return d.DialContext(m.ctx, "tcp", m.addr)
}

// repeat calls f from a number of goroutines until the attack ends, as fast as f is.
func (m *mallory) repeat(goroutines int, f func(i int)) {
	for i := range goroutines {
		m.running.Go(func() {
			for m.ctx.Err() == nil {
				f(i)
			}
		})
	}
}

// hold keeps a connection open until the attack ends.
func (m *mallory) hold(c net.Conn) {
	context.AfterFunc(m.ctx, func() { c.Close() })
}

// wait waits until a condition holds, or fails the test. Among others, an attack may not
// get so far.
func (m *mallory) wait(what string, f func() bool) {
	for end := time.Now().Add(2 * time.Minute); !f(); time.Sleep(10 * time.Millisecond) {
		if m.among && time.Now().After(end.Add(-110*time.Second)) {
			return
		}
		if time.Now().After(end) {
			m.fail("still not: %s", what)
		}
	}
}

// request returns a request of the attacker as it goes over the wire.
func (m *mallory) request(method, session, name, params string) string {
	return m.raw(message(session == "", method, params), 0, header(m.token, session, method, name))
}

// raw returns a request with a body that announces more bytes than it has.
func (m *mallory) raw(body string, more int, h http.Header) string {
	var b strings.Builder
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", m.addr, len(body)+more)
	_ = h.Write(&b) // into memory
	return b.String() + "\r\n" + body
}

// ask sends a request of the attacker on a connection and reads its reply.
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

// must is ask for requests before the attack, which succeed.
func (m *mallory) must(c net.Conn, r *bufio.Reader, request string) []byte {
	res, body, err := ask(c, r, request)
	if err != nil || res.StatusCode != http.StatusOK {
		m.fail("got %v %.300s, %v", res, body, err)
	}
	return body
}
