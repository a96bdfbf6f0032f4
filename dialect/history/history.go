// Package history is the dialect in which the agent owns the session: it is
// given an id and passes it on, or brings one along, and every reply holds the
// thoughts so far. Sessions that are not used expire.
//
// It comes in two forms over the same rules. [New] makes a dialect, for clients
// of a server. [NewTool] makes a [Tool], for an agent in the same process.
//
// The contract is in tool.json and tool.md, which are published as they stand,
// and in the transcripts in testdata.
package history

import (
	"context"
	_ "embed" // of the contract
	"io"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// name is the dialect's, and where its sessions say they were begun.
const name = "history"

// defaultTTL is how long a session is kept after its last use.
const defaultTTL = 30 * time.Minute

var (
	//go:embed tool.json
	specJSON []byte
	//go:embed tool.md
	specText []byte
)

// A Config says what the dialect works with.
type Config struct {
	Engine    *sequent.Engine // required
	SessionID sequent.ID      // the one session of all calls; empty means that calls name theirs
	TTL       time.Duration   // how long a session is kept after its last use; 0 means 30 minutes, negative for ever
	Window    int             // how many thoughts a reply holds, the last ones; 0 means all
	Rand      io.Reader       // where session ids come from; nil means crypto/rand
}

// New returns the dialect. It panics if there is no engine.
//
// Expired sessions are gone for every reader, and taken out of the store by
// [sequent.Engine.Sweep], which is for the program to call.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("history: Config needs an Engine")
	}
	r := newRecorder(cfg)
	think := func(ctx context.Context, c tool.Call, in args) (tool.Reply, error) {
		return r.reply(ctx, cfg.Engine.Owned(c.Caller.Owner), in)
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "sessions that the agent owns and that expire, with all thoughts in every reply",
		Tools:   []tool.Tool{tool.New(spec(), think, reject)},
	}
}

func spec() tool.Spec { return tool.Parse(specJSON, specText) }
