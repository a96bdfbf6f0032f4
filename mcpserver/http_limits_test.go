package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/tool"
)

// A heavyHouse is a handler with tools that use much of something.
type heavyHouse struct {
	t       *testing.T
	h       *HTTP
	release chan struct{} // lets calls of compute end when it is closed
}

// newHeavyHouse makes a handler within a bubble of synctest. Its default dialect has
// the tools compute (heavy), large (a reply of 3 MB, heavy) and quick.
func newHeavyHouse(t *testing.T, caps Limits) *heavyHouse {
	t.Helper()
	x := &heavyHouse{t: t, release: make(chan struct{})}
	say := func(name, text string, heavy bool) tool.Tool {
		return tool.Tool{
			Spec: tool.Spec{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, Heavy: heavy,
			Call: func(ctx context.Context, _ tool.Call) (tool.Reply, error) {
				if name == "compute" {
					select {
					case <-x.release:
					case <-ctx.Done():
						return tool.Reply{}, ctx.Err()
					}
				}
				return tool.Reply{Text: text}, nil
			},
		}
	}
	d := dialect.Dialect{
		Name: "heavy",
		Tools: []tool.Tool{
			say("compute", "computed", true), say("large", strings.Repeat("x", 3_000_000), true), say("quick", "quick", false),
		},
		Templates: []dialect.Template{{
			URI: "x://{id}", Name: "x",
			Read: func(context.Context, tool.Caller, string) (string, error) { return "x", nil },
			Watch: func(context.Context, tool.Caller, string, func(bool)) (func(), error) {
				return func() {}, nil
			},
		}},
	}
	var err error
	x.h, err = NewHTTP(HTTPConfig{
		Servers: []*Server{New(Config{Dialect: d})}, Limits: caps, Auth: testAuth,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.h.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown = %v, want nil", err)
		}
		if used := x.h.limiter.Stats().Used; used != [5]int64{} {
			t.Errorf("in the end %v are held", used)
		}
	})
	return x
}

// A parked response is one whose client reads nothing until told.
type parked struct {
	*httptest.ResponseRecorder
	read chan struct{} // closed when the client reads; nil for at once
}

func (p *parked) Write(b []byte) (int, error) {
	if p.read != nil {
		<-p.read
	}
	return p.ResponseRecorder.Write(b)
}

// A pending request is one that is answered in the background.
type pending struct {
	w    *parked
	done chan struct{}
}

// over reports whether the request was answered.
func (p *pending) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (x *heavyHouse) start(r *http.Request, read chan struct{}) *pending {
	p := &pending{&parked{httptest.NewRecorder(), read}, make(chan struct{})}
	go func() {
		defer close(p.done)
		x.h.ServeHTTP(p.w, r)
	}()
	synctest.Wait()
	return p
}

// modern makes a request of 2026-07-28.
func (x *heavyHouse) modern(token, name, subject, params string) *http.Request {
	r := (&site{t: x.t, addr: "localhost"}).request(modernPost("/mcp", name, subject, params, "Authorization: Bearer "+token))
	r.RemoteAddr = here
	return r.WithContext(x.t.Context())
}

func (x *heavyHouse) call(token, name string) *http.Request {
	return x.modern(token, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{}`, name))
}

// want checks a reply.
func (x *heavyHouse) want(p *pending, what string, status int, text string) {
	x.t.Helper()
	if !p.over() {
		x.t.Errorf("%s: no reply yet", what)
		return
	}
	body := p.w.Body.String()
	if p.w.Code != status || !strings.Contains(body, text) || (p.w.Header().Get("Retry-After") != "") != (status != http.StatusOK) {
		x.t.Errorf("%s: got %d %.300s %v, want %d with %q", what, p.w.Code, body, p.w.Header(), status, text)
	}
}

// TestHeavyCalls has alice compute as much as she can. Her light calls and bob's are not
// behind it. When it takes too long or the server ends, calls that wait are refused.
func TestHeavyCalls(t *testing.T) {
	t.Parallel()
	for _, ending := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			x := newHeavyHouse(t, Limits{Heavy: 2})
			var alice []*pending
			for range 5 {
				alice = append(alice, x.start(x.call("token-a", "compute"), nil))
			}
			x.want(x.start(x.call("token-a", "quick"), nil), "alice's quick call", 200, "quick")
			bob := x.start(x.call("token-b", "compute"), nil)
			if n := x.h.limiter.Stats().Used[limits.Heavy]; n != 3 {
				t.Errorf("%d calls run, want 2 of alice and 1 of bob", n)
			}
			status, text := http.StatusTooManyRequests, `"code":-32010,"message":"this client has 2 searches, reads of sessions or long messages in progress`
			if ending {
				x.h.endStreams()
				status, text = http.StatusServiceUnavailable, "the server is shutting down; try again"
			} else {
				time.Sleep(10 * time.Second)
			}
			synctest.Wait()
			refused := 0
			for _, p := range alice {
				if p.over() {
					refused++
					x.want(p, "a call that waits", status, text)
				}
			}
			if refused != 3 {
				t.Errorf("%d calls of alice were refused, want 3", refused)
			}
			close(x.release)
			synctest.Wait()
			x.want(bob, "bob's call", 200, "computed")
		})
	}
}

// TestLongMessages has alice send messages that take long to read while she computes. They wait
// before they are read, and hold back no others. Each gives back what it took: newHeavyHouse checks it.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	long := `"x":"` + strings.Repeat("x", longMessage) + `"`
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, Limits{Heavy: 1})
		call := func(token, name string) *http.Request {
			return x.modern(token, "tools/call", name, fmt.Sprintf(`"name":%q,"arguments":{%s}`, name, long))
		}
		bad := func(token string) *http.Request {
			r := call(token, "quick")
			r.Body = io.NopCloser(strings.NewReader("[" + strings.Repeat("1,", longMessage)))
			return r
		}
		computing := x.start(x.call("token-a", "compute"), nil)
		refused := x.start(call("token-a", "quick"), nil)
		x.want(x.start(x.call("token-a", "quick"), nil), "alice's short call", 200, "quick")
		x.want(x.start(call("token-b", "quick"), nil), "bob's long call", 200, "quick")
		time.Sleep(9 * time.Second)
		ctx, leave := context.WithCancel(t.Context())
		left := x.start(call("token-a", "quick").WithContext(ctx), nil)
		unread, twice := x.start(bad("token-a"), nil), x.start(call("token-a", "compute"), nil)
		subscribed, unsubscribe := context.WithCancel(t.Context())
		stream := x.start(x.modern("token-a", methodListen, "", `"notifications":{"resourceSubscriptions":["x://1"]},`+long).WithContext(subscribed), nil)
		time.Sleep(time.Second)
		synctest.Wait()
		x.want(refused, "a message that waited", http.StatusTooManyRequests, `"id":1,"error":{"code":-32010,"message":"this client has 1 searches, reads of sessions or long messages`)
		leave()
		synctest.Wait()
		if !left.over() || unread.over() || twice.over() || stream.w.Body.Len() > 0 {
			t.Error("long messages were read while alice computed, or one waits whose client left")
		}
		close(x.release)
		synctest.Wait()
		x.want(computing, "what alice computes", 200, "computed")
		x.want(twice, "a long call of a heavy tool", 200, "computed")
		if unread.w.Code != http.StatusBadRequest || stream.over() || !strings.Contains(stream.w.Body.String(), "acknowledged") {
			t.Errorf("a long message that is no JSON got %d; a subscription got %q", unread.w.Code, stream.w.Body)
		}
		x.want(x.start(x.call("token-a", "compute"), nil), "a heavy call beside the subscription", 200, "computed")
		unsubscribe()
		synctest.Wait()
	})
}

// TestUnreadReplies has alice ask for large replies and read none.
func TestUnreadReplies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, Limits{Heavy: 1})
		read := make(chan struct{})
		first := x.start(x.call("token-a", "large"), read)
		second := x.start(x.call("token-a", "large"), nil)
		x.want(x.start(x.call("token-b", "large"), nil), "bob's call", 200, "xxx")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		x.want(second, "a call for one reply more", http.StatusTooManyRequests, `"data":{"limit":"heavy-calls","held":1,"retryAfterMs":1000}`)
		close(read)
		synctest.Wait()
		x.want(first, "the first call", 200, "xxx")
		x.want(x.start(x.call("token-a", "large"), nil), "alice, having read", 200, "xxx")
		x.h.config.MaxReply = 1_000_000
		x.want(x.start(x.call("token-a", "large"), nil), "a reply that is too long", 200, "the request was carried out, but its reply has 3000")
	})
}

// A stuck body never comes.
type stuck struct{ end chan struct{} }

func (s stuck) Read([]byte) (int, error) {
	<-s.end
	return 0, io.ErrUnexpectedEOF
}
func (s stuck) Close() error { return nil }

// TestUnfinishedBodies has alice send nothing of what she announces. Her further requests
// wait, and are refused; if she goes on, her answers come late, and bob's at once.
func TestUnfinishedBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, Limits{Calls: 2})
		body := stuck{make(chan struct{})}
		var held []*pending
		for range 2 {
			r := x.call("token-a", "quick")
			r.Body, r.ContentLength = body, 4<<20
			held = append(held, x.start(r, nil))
		}
		var more []*pending
		for range 201 {
			more = append(more, x.start(x.call("token-a", "quick"), nil))
		}
		x.want(x.start(x.call("token-b", "quick"), nil), "bob's call", 200, "quick")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		late := 0
		for _, p := range more {
			if !p.over() {
				late++
				time.Sleep(time.Second)
				synctest.Wait()
			}
			x.want(p, "a call more", http.StatusTooManyRequests, `"limit":"calls"`)
		}
		if late != 1 {
			t.Errorf("%d of 201 refusals came late, want one", late)
		}
		close(body.end)
		synctest.Wait()
		for _, p := range held {
			if p.w.Code != http.StatusBadRequest {
				t.Errorf("an unfinished body got %d, want 400", p.w.Code)
			}
		}
	})
}

// TestStreams has alice open as many streams as she may. They are no calls.
func TestStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, Limits{Streams: 2, Calls: 1})
		ctx, cancel := context.WithCancel(t.Context())
		listen := func(token string) *pending {
			r := x.modern(token, "subscriptions/listen", "", `"notifications":{"resourceSubscriptions":["x://1"]}`)
			return x.start(r.WithContext(ctx), nil)
		}
		open := []*pending{listen("token-a"), listen("token-a"), listen("token-b")}
		x.want(listen("token-a"), "one stream more", http.StatusTooManyRequests, `"limit":"streams","held":2`)
		for _, p := range open {
			if p.over() {
				t.Errorf("a stream has ended: %d %s", p.w.Code, p.w.Body)
			}
		}
		cancel()
		synctest.Wait()
	})
}

// A fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr { return c.from }
func (c *fakeConn) Close() error         { c.closed = true; return nil }

// TestConnections opens more connections than an address may have, and than the process
// may have files.
func TestConnections(t *testing.T) {
	t.Parallel()
	x := newHeavyHouse(t, Limits{Connections: 3})
	x.h.gate, _ = admission.New(admission.Config{Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.9/32")}})
	x.h.room = make(chan struct{}, 9)
	open := func(ip string, n int) (admitted []net.Conn) {
		t.Helper()
		for range n {
			c := &fakeConn{from: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}}
			if x.h.count(c, http.StateNew); !c.closed {
				admitted = append(admitted, c)
			}
		}
		return admitted
	}
	end := func(c net.Conn) { x.h.count(c, http.StateClosed) }
	all := open("10.0.0.1", 5)
	other, proxy := open("10.0.0.2", 1), open("10.0.0.9", 9)
	if len(all) != 3 || len(other) != 1 || len(proxy) != 5 {
		t.Errorf("admitted %d, %d and %d connections; want 3 of one address, 1 of another, and the 5 that are left of a proxy", len(all), len(other), len(proxy))
	}
	for range 2 { // the second time it is closed already
		end(all[0])
	}
	if again := open("10.0.0.1", 2); len(again) != 1 {
		t.Errorf("%d connections are admitted in the place of a closed one", len(again))
	} else {
		all = append(all[1:], again...)
	}
	for _, c := range append(append(all, other...), proxy...) {
		end(c)
	}
}
