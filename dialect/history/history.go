// Package history is the dialect in which the agent owns the session. The agent passes
// the id of a previous reply or chooses one, and every reply contains the thoughts so
// far. Unused sessions expire.
//
// [New] returns the dialect for a server. [NewTool] returns a [Tool] with the same rules
// for an agent in the same process.
//
// The contract is in tool.json and tool.md, which are published byte for byte, and in
// the transcripts in testdata.
package history

import (
	"context"
	"embed"
	"io"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// name is the name of the dialect, also in the headers of its sessions.
const name = "history"

// defaultTTL is the time after its last use at which a session expires.
const defaultTTL = 30 * time.Minute

// defaultReplyLimit is the maximum size of a reply to a client, in bytes.
const defaultReplyLimit = 1 << 20

//go:embed tool.json tool.md native/*.json
var contract embed.FS

// A Config configures the dialect.
type Config struct {
	Engine    *sequent.Engine // required
	SessionID sequent.ID      // session of all calls; empty means that calls name their session
	TTL       time.Duration   // lifetime of a session after its last use; 0 means 30 minutes, negative no limit
	Window    int             // number of latest thoughts in a reply; 0 means all
	// ReplyLimit is the maximum size of a reply in bytes of JSON. A larger one holds the
	// newest thoughts that fit, at least one, and says so in historyFrom. 0 means 1 MiB,
	// negative no limit.
	ReplyLimit int
	Rand       io.Reader // source of session ids; nil means crypto/rand
}

// New returns the dialect. It panics if there is no engine.
//
// Expired sessions are invisible. The program calls [sequent.Engine.Sweep] to delete them
// from the store.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil {
		panic("history: Config needs an Engine")
	}
	r := newRecorder(cfg, defaultReplyLimit)
	think := func(ctx context.Context, c tool.Call, in Input) (tool.Reply, error) {
		return r.reply(ctx, cfg.Engine.Owned(c.Caller.Owner), in)
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "sessions that the agent owns and that expire, with all thoughts in every reply",
		Tools:   []tool.Tool{tool.New(tool.ParseFS(contract, "tool"), think, dialect.Reject).AsHeavy()},
	}
}
