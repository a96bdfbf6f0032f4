package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent/mcpserver/internal/mcptest"
)

// A request can be cancelled from Begin to End, with any spelling of its id. The handshake
// cannot.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := newConnection(New(Config{Dialect: mcptest.New().Dialect()}))
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
