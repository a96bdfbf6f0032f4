// Package wiki is the dialect whose thoughts carry [[WikiLinks]] and are written to
// Markdown notes. A session is a note of a person's vault, beside workflows,
// assumptions and all other notes. Further tools search the vault and follow its
// links.
//
// The contract is in the .json and .md files, which are published unchanged, and in
// the transcripts in testdata. The store holds the truth about thoughts, the vault
// about notes.
package wiki

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/thinking"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// A Config configures the dialect.
type Config struct {
	Vaults *vaults.Vaults // the notes of each owner; required
	Agent  string         // the author of thoughts whose client is not known; empty means "agent"
	Rand   io.Reader      // for session ids; nil means crypto/rand
}

// A server answers the calls of all tools.
type server struct{ Config }

// New returns the dialect.
func New(cfg Config) dialect.Dialect {
	cfg.Agent = cmp.Or(oneLine(cfg.Agent), thinking.DefaultAgent)
	cfg.Rand = cmp.Or(cfg.Rand, rand.Reader)
	d := &server{cfg}
	return dialect.Dialect{
		Name:    thinking.Dialect,
		Summary: "thoughts with [[WikiLinks]] as notes in a Markdown vault, with workflows, search, graph and assumptions",
		Tools: []tool.Tool{
			define(d, "tool", think),
			define(d, "workflow", runWorkflow),
			define(d, "search", search).AsHeavy(),
			define(d, "memory", memory).AsHeavy(),
			define(d, "context", relations).AsHeavy(),
			define(d, "assumption", ledger),
			define(d, "sync", synchronize).AsHeavy(),
		},
		Templates: []dialect.Template{{ // one for all notes: a vault has too many for a list of resources
			URI: "memory://{+path}", Name: "note", Title: "Note",
			Description: "A note of the vault, by its path: thinking/sequential/{sessionId}.md for a session.",
			MIME:        "text/markdown", Read: d.readNote,
		}},
	}
}

// mint returns a new id: the time in milliseconds and five random digits.
func (d *server) mint() (sequent.ID, error) {
	const lowest, count = 10_000, 90_000
	var raw [8]byte
	if _, err := io.ReadFull(d.Rand, raw[:]); err != nil {
		return "", fmt.Errorf("wiki: no random bytes for an id: %w", err)
	}
	random := lowest + binary.LittleEndian.Uint64(raw[:])%count
	return sequent.ID(fmt.Sprintf("session-%d-%d", d.Vaults.Engine().Now().UnixMilli(), random)), nil
}
