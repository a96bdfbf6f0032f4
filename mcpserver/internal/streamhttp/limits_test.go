package streamhttp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/governor"
	"github.com/sequent-dev/sequent/mcpserver/internal/message"
	"github.com/sequent-dev/sequent/mcpserver/internal/method"
	"github.com/sequent-dev/sequent/tool"
)

// A heavyHouse is a handler with tools that use much of something.
type heavyHouse struct {
	t       *testing.T
	h       *Handler
	release chan struct{} // lets calls of compute and ask end when it is closed
}

// newHeavyHouse makes a handler within a bubble of synctest. Its default dialect has
// the tools compute (heavy), ask (of a model), large (a reply of 3 MB) and quick.
func newHeavyHouse(t *testing.T, limits governor.Limits) *heavyHouse {
	t.Helper()
	x := &heavyHouse{t: t, release: make(chan struct{})}
	say := func(name, text string, w tool.Weight, wait bool) tool.Tool {
		return tool.Tool{
			Spec: tool.Spec{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, Weight: w,
			Call: func(ctx context.Context, _ tool.Call) (tool.Reply, error) {
				if wait {
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
			say("compute", "computed", tool.Heavy, true), say("ask", "asked", tool.Model, true),
			say("large", strings.Repeat("x", 3_000_000), tool.Light, false), say("quick", "quick", tool.Light, false),
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
	x.h, err = New(Config{
		Servers: []*method.Server{method.New(method.Config{Dialect: d})}, Limits: limits, Auth: twoPeople{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.h.Shutdown(context.Background()); err != nil {
			t.Errorf("Shutdown = %v, want nil", err)
		}
		for r := range governor.Defaults() {
			if r := governor.Resource(r); r != governor.Sessions && x.h.governor.Used(r) != 0 {
				t.Errorf("in the end %d %s are held", x.h.governor.Used(r), r)
			}
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
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, name, params)
	r := httptest.NewRequestWithContext(x.t.Context(), http.MethodPost, "/mcp", strings.NewReader(body))
	r.RemoteAddr = here
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		headerVersion: {message.FirstModern}, headerMethod: {name}, "Authorization": {"Bearer " + token},
	}
	if subject != "" {
		r.Header.Set(headerName, subject)
	}
	return r
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
// behind it, and she is refused when it takes too long.
func TestHeavyCalls(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]governor.Resource{"compute": governor.Heavy, "ask": governor.Model} {
		synctest.Test(t, func(t *testing.T) {
			var limits governor.Limits
			limits[r] = 4
			x := newHeavyHouse(t, limits)
			var alice []*pending
			for range 5 {
				alice = append(alice, x.start(x.call("token-a", name), nil))
			}
			if n := x.h.governor.Used(r); n != 2 {
				t.Errorf("%s: %d calls of alice run, want 2", name, n)
			}
			x.want(x.start(x.call("token-a", "quick"), nil), "alice's quick call", 200, "quick")
			bob := x.start(x.call("token-b", name), nil)
			if n := x.h.governor.Used(r); n != 3 {
				t.Errorf("%s: %d calls run with that of bob, want 3", name, n)
			}
			time.Sleep(13 * time.Second) // they wait for the size of the first replies, too
			synctest.Wait()
			refused := 0
			for _, p := range alice {
				if p.over() {
					refused++
					x.want(p, name, http.StatusTooManyRequests, `"code":-32010,"message":"this client has 2 running `)
				}
			}
			if refused != 3 {
				t.Errorf("%s: %d calls of alice were refused after ten seconds, want 3", name, refused)
			}
			close(x.release)
			synctest.Wait()
			x.want(bob, "bob's call", 200, name[:2])
		})
	}
}

// TestQueuedCallsAtTheEnd ends the server while calls run and others wait for their turn.
func TestQueuedCallsAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, governor.Limits{governor.Heavy: 3})
		var all []*pending
		for range 4 {
			all = append(all, x.start(x.call("token-a", "compute"), nil))
		}
		x.h.endStreams()
		synctest.Wait()
		refused := 0
		for _, p := range all {
			if p.over() {
				refused++
				x.want(p, "a call that waits", http.StatusServiceUnavailable, "the server is shutting down; try again")
			}
		}
		if refused != 2 {
			t.Errorf("%d calls were refused, want the 2 that waited", refused)
		}
		close(x.release)
		synctest.Wait()
		for _, p := range all {
			if p.w.Code == http.StatusOK {
				x.want(p, "a call that runs", http.StatusOK, "computed")
			}
		}
	})
}

// TestUnreadReplies has alice ask for large replies and read none.
func TestUnreadReplies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, governor.Limits{governor.BytesOut: 11_000_000})
		read := make(chan struct{})
		first := x.start(x.call("token-a", "large"), read)
		var rest []*pending
		for range 10 {
			rest = append(rest, x.start(x.call("token-a", "large"), read))
		}
		if n := x.h.governor.Used(governor.BytesOut); n > 4_000_000 {
			t.Errorf("%d bytes of replies are held, want one reply", n)
		}
		x.want(x.start(x.call("token-b", "large"), nil), "bob's call", 200, "xxx")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		for _, p := range rest {
			if p.w.Code != http.StatusTooManyRequests {
				t.Errorf("a call for one reply more got %d, want 429", p.w.Code)
			}
		}
		close(read)
		synctest.Wait()
		x.want(first, "the first call", 200, "xxx")
		for _, p := range rest {
			x.want(p, "the others", http.StatusTooManyRequests, `"limit":"bytes-out"`)
		}
		x.want(x.start(x.call("token-a", "large"), nil), "alice, having read", 200, "xxx")
	})
}

// TestReplyTooLarge asks for a reply that is larger than a share.
func TestReplyTooLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, governor.Limits{governor.BytesOut: 4_000_000})
		x.want(x.start(x.call("token-a", "large"), nil), "a reply of 3 MB", http.StatusTooManyRequests,
			"the request was carried out, but its reply cannot be sent: this client has 0 KiB of replies in flight, wants 2.861 MiB more and may have 1.907 MiB now")
		x.want(x.start(x.call("token-a", "quick"), nil), "a small one", 200, "quick")
	})
}

// TestReplyBeyondLimit asks for a reply that is longer than any may be. Its size is
// remembered although it is not sent.
func TestReplyBeyondLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, governor.Limits{governor.BytesOut: 12_000_000})
		x.h.maxReply = 1_000_000
		const want = "the request was carried out, but its reply has 3000"
		x.want(x.start(x.call("token-a", "large"), nil), "a reply of 3 MB", 200, want)
		read := make(chan struct{})
		held := x.start(x.call("token-a", "large"), read)
		if n := x.h.governor.Used(governor.BytesOut); n > 1000 {
			t.Errorf("%d bytes are held for an error", n)
		}
		close(read)
		synctest.Wait()
		x.want(held, "once more", 200, want)
		x.want(x.start(x.call("token-a", "quick"), nil), "a small one", 200, "quick")
	})
}

// A stuck body never comes.
type stuck struct{ end chan struct{} }

func (s stuck) Read([]byte) (int, error) {
	<-s.end
	return 0, io.ErrUnexpectedEOF
}
func (s stuck) Close() error { return nil }

// TestUnfinishedBodies has alice announce more than she may send, and send nothing.
func TestUnfinishedBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, governor.Limits{governor.BytesIn: 16 << 20})
		body := stuck{make(chan struct{})}
		announce := func(n int64) *pending {
			r := x.call("token-a", "quick")
			r.Body, r.ContentLength = body, n
			return x.start(r, nil)
		}
		var held []*pending
		for range 2 {
			held = append(held, announce(4<<20-1))
		}
		x.want(announce(4<<20), "one body more", http.StatusTooManyRequests, `"limit":"bytes-in","held":8388608,"share":8388608,"total":16777216`)
		x.want(x.start(x.call("token-b", "quick"), nil), "bob's call", 200, "quick")
		// A chunked body counts as it grows.
		r := x.call("token-b", "quick")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"x":"`+strings.Repeat("x", 3<<20))), -1
		if p := x.start(r, nil); p.w.Code != http.StatusBadRequest {
			t.Errorf("bob's body of 3 MiB got %d %s, want it read", p.w.Code, p.w.Body)
		}
		r = x.call("token-a", "quick")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", 1<<20))), -1
		x.want(x.start(r, nil), "alice's body of unknown length", http.StatusTooManyRequests, `"limit":"bytes-in"`)
		close(body.end)
		synctest.Wait()
		for _, p := range held {
			if p.w.Code != http.StatusBadRequest {
				t.Errorf("an unfinished body got %d, want 400", p.w.Code)
			}
		}
	})
}

// TestStreamsAndWatches has alice open as many streams and watch as many documents as
// she may.
func TestStreamsAndWatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, governor.Limits{governor.Streams: 6, governor.Watches: 12})
		ctx, cancel := context.WithCancel(t.Context())
		listen := func(token string, documents int) *pending {
			var uris []string
			for i := range documents {
				uris = append(uris, fmt.Sprintf(`"x://%d"`, i))
			}
			r := x.modern(token, "subscriptions/listen", "", `"notifications":{"resourceSubscriptions":[`+strings.Join(uris, ",")+`]}`)
			return x.start(r.WithContext(ctx), nil)
		}
		open := listen("token-a", 4)
		x.want(listen("token-a", 3), "more documents", http.StatusTooManyRequests, `"limit":"watches","held":6,"share":6,"total":12`)
		if n := x.h.governor.Used(governor.Watches); n != 4 {
			t.Errorf("%d documents are watched, want 4", n)
		}
		var streams []*pending
		for range 2 {
			streams = append(streams, listen("token-b", 1))
		}
		streams = append(streams, listen("token-a", 1))
		x.want(listen("token-a", 1), "one stream more", http.StatusTooManyRequests, `"limit":"streams","held":2,"share":2,"total":6`)
		for _, p := range append(streams, open) {
			if p.over() {
				t.Errorf("a stream has ended: %d %s", p.w.Code, p.w.Body)
			}
		}
		if n := x.h.governor.Used(governor.Calls); n != 0 {
			t.Errorf("%d calls are under way, want none but streams", n)
		}
		cancel()
		synctest.Wait()
	})
}

// TestRefusedAgainAndAgain has alice send requests although all are refused. Her answers
// come late, holding nothing, and bob's at once.
func TestRefusedAgainAndAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := newHeavyHouse(t, governor.Limits{governor.Calls: 4})
		blocked := stuck{make(chan struct{})}
		var held []*pending
		for range 2 {
			r := x.call("token-a", "quick")
			r.Body = blocked
			held = append(held, x.start(r, nil))
		}
		begun := time.Now()
		for range 200 {
			x.want(x.start(x.call("token-a", "quick"), nil), "a refusal", http.StatusTooManyRequests, `"limit":"calls"`)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("200 refusals took %v, want no delay", took)
		}
		late := x.start(x.call("token-a", "quick"), nil)
		if late.over() {
			t.Error("one refusal more was not delayed")
		}
		x.want(x.start(x.call("token-b", "quick"), nil), "bob's call", 200, "quick")
		time.Sleep(time.Second)
		synctest.Wait()
		x.want(late, "the late refusal", http.StatusTooManyRequests, `"limit":"calls"`)
		close(blocked.end)
		synctest.Wait()
		for _, p := range held {
			if !p.over() {
				t.Error("a request without a body is still there")
			}
		}
	})
}
