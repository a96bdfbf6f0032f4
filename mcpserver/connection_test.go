package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/internal/limits"
)

// A request can be cancelled from Begin to End, with any spelling of its id. The handshake
// cannot.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := newConnection(New(Config{Dialect: newNotebook().Dialect()}))
	begin := func(id, name string) *pendingCall {
		return c.begin(t.Context(), message{Kind: kindRequest, ID: json.RawMessage(id), Method: name})
	}
	calls := map[*pendingCall]bool{
		begin(`"a"`, "tools/call"): true, begin(`7`, "tools/call"): true, begin(`7`, "tools/call"): true,
		begin(`8`, "tools/call"): false, begin(`7`, methodInitialize): false,
	}
	c.cancel([]byte(`"\u0061"`))
	c.cancel([]byte(`7`))
	for call, want := range calls {
		if got := call.ctx.Err() != nil; got != want {
			t.Errorf("the context of call %s is done = %v, want %v", call.ID, got, want)
		}
		if got := c.end(call); got != want {
			t.Errorf("call %s was cancelled = %v, want %v", call.ID, got, want)
		}
	}
	if len(c.calls) > 0 {
		t.Error("calls that have ended are known")
	}
}

// A pipe is a transport whose client sends lines on a channel.
type pipe struct {
	client  *limits.Client
	read    int
	in      chan string
	replies syncBuffer
}

func (p *pipe) Read() ([]byte, error) {
	line, ok := <-p.in
	if !ok {
		return nil, io.EOF
	}
	p.read++
	_ = p.client.Take(limits.Calls)
	return []byte(line), nil
}

func (p *pipe) Ready() bool { return true }

func (p *pipe) Write(lines []byte) error {
	_, err := p.replies.Write(lines)
	return err
}

// A long message waits before it is read. A heavy call that came before it does not wait for
// it, and all that was taken is given back.
func TestLongMessagesOfASocket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		book := newNotebook()
		d := book.Dialect()
		for i := range d.Tools {
			d.Tools[i].Heavy = d.Tools[i].Name == "wait"
		}
		limiter := limits.New(limits.Config{Caps: limits.Caps{Heavy: 1}})
		client := limiter.Client("alice")
		p := &pipe{in: make(chan string), client: client}
		cfg := serveConfig{
			server: New(Config{Dialect: d}), client: client, admit: func(*message) *rpcError { return nil },
		}
		ended := make(chan error)
		go func() { ended <- serve(context.Background(), cfg, p) }()
		send := func(id int, name, text string) {
			p.in <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q},%s}}`,
				id, name, text, modernMeta)
		}
		long := strings.Repeat("x", longMessage)

		if err := client.Take(limits.Heavy); err != nil { // by another connection
			t.Fatal(err)
		}
		send(1, "note", long)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if got := p.replies.String(); !strings.Contains(got, `"id":1,"error":{"code":-32010`) {
			t.Errorf("a long message that waited too long got %.300s, want a refusal", got)
		}
		client.Give(limits.Heavy)

		send(2, "wait", "short")
		await(t, "the heavy call begins", book.Begun)
		send(3, "wait", "next")
		send(4, "note", long)
		synctest.Wait()
		book.Release <- struct{}{}
		synctest.Wait()
		book.Release <- struct{}{}
		synctest.Wait()
		got := p.replies.String()
		for id := 2; id <= 4; id++ {
			if !strings.Contains(got, fmt.Sprintf(`"id":%d,"result"`, id)) {
				t.Errorf("call %d was not answered: %.300s", id, got)
			}
		}
		p.in <- "[" + strings.Repeat("1,", longMessage)
		close(p.in)
		if err := <-ended; err != nil || p.read != 5 {
			t.Errorf("Serve = %v, %d messages read, want 5", err, p.read)
		}
		if used := limiter.Stats().Used; used != [5]int64{} {
			t.Errorf("in the end %v are held", used)
		}
	})
}
