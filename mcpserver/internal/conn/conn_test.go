package conn

import (
	"encoding/json"
	"testing"

	"github.com/sequent-dev/sequent/mcpserver/internal/mcptest"
	"github.com/sequent-dev/sequent/mcpserver/internal/protocol"
)

// A request can be cancelled from Begin to End, with any spelling of its id. The handshake
// cannot.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := New(protocol.New(protocol.Config{Dialect: mcptest.New().Dialect()}))
	begin := func(id, name string) *Call {
		return c.Begin(t.Context(), protocol.Message{Kind: protocol.KindRequest, ID: json.RawMessage(id), Method: name})
	}
	calls := map[*Call]bool{
		begin(`"a"`, "tools/call"): true, begin(`7`, "tools/call"): true, begin(`7`, "tools/call"): true,
		begin(`8`, "tools/call"): false, begin(`7`, protocol.Initialize): false,
	}
	c.Cancel([]byte(`"\u0061"`))
	c.Cancel([]byte(`7`))
	for call, want := range calls {
		if got := call.Context().Err() != nil; got != want {
			t.Errorf("the context of call %s is done = %v, want %v", call.ID, got, want)
		}
		if got := c.End(call); got != want {
			t.Errorf("call %s was cancelled = %v, want %v", call.ID, got, want)
		}
	}
	if len(c.calls) > 0 {
		t.Error("calls that have ended are known")
	}
}
