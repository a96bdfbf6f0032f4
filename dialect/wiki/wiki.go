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
	"context"
	"crypto/rand"
	_ "embed" // of the contract
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/analyze"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// name is the name of the dialect, which its sessions record.
const name = "wiki"

// A Config configures the dialect.
type Config struct {
	Engine *sequent.Engine // required

	// Open returns an owner's vault. It is called for every tool call, by several
	// goroutines at once. Its errors are shown to callers. Required.
	Open func(ctx context.Context, owner string) (*Vault, error)

	Agent  string       // the author of thoughts whose client is not known; empty means "agent"
	Rand   io.Reader    // for session ids; nil means crypto/rand
	Logger *slog.Logger // notes that could not be written, without thoughts; nil discards them

	// ReplyLimit is the maximum size of a note as a document, in bytes; 0 means 1 MiB. Of a
	// larger one the end is sent, which has the newest thoughts.
	ReplyLimit int

	// Semantic offers searches by meaning alone: the vaults have an embedding model.
	Semantic bool

	// HintWait limits how long a reply waits for what the vault has around it; 0 means 2
	// seconds. A reply that waits no longer says less.
	HintWait time.Duration
}

const defaultReplyLimit = 1 << 20 // bytes

// A server answers the calls of all tools.
type server struct {
	engine *sequent.Engine
	open   func(context.Context, string) (*Vault, error)
	agent  string
	rand   io.Reader
	logger *slog.Logger
	limit  int // bytes of a document

	hintWait time.Duration
}

var (
	//go:embed tool.json
	thinkSpec []byte
	//go:embed tool.md
	thinkText []byte
)

// New returns the dialect. It panics if a required field is missing.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil || cfg.Open == nil {
		panic("wiki: Config needs Engine and Open")
	}
	d := &server{
		engine: cfg.Engine, open: cfg.Open,
		agent: oneLine(cfg.Agent), rand: cfg.Rand, logger: cfg.Logger,
		limit: cmp.Or(cfg.ReplyLimit, defaultReplyLimit), hintWait: cmp.Or(cfg.HintWait, defaultHintWait),
	}
	if d.agent == "" {
		d.agent = thinking.DefaultAgent
	}
	if d.rand == nil {
		d.rand = rand.Reader
	}
	if d.logger == nil {
		d.logger = slog.New(slog.DiscardHandler)
	}
	return dialect.Dialect{
		Name:    name,
		Summary: "thoughts with [[WikiLinks]] as notes in a Markdown vault, with workflows, search, graph and assumptions",
		Tools: []tool.Tool{
			teach(tool.New(tool.Parse(thinkSpec, thinkText), d.think, reject)),
			teach(tool.New(tool.Parse(workflowSpec, workflowText), d.workflow, reject)),
			teach(tool.New(searchContract(cfg.Semantic), d.search, rejectSearch).Weighing(tool.Heavy)),
			teach(tool.New(tool.Parse(readSpec, readText), d.read, reject).Weighing(tool.Heavy)),
			teach(tool.New(tool.Parse(editSpec, editText), d.edit, reject).Weighing(tool.Heavy)),
			teach(tool.New(tool.Parse(contextSpec, contextText), d.context, reject).Weighing(tool.Heavy)),
			teach(tool.New(tool.Parse(assumptionSpec, assumptionText), d.ledger, reject)),
			teach(tool.New(tool.Parse(syncSpec, syncText), d.sync, reject).Weighing(tool.Heavy)),
			teach(analyze.New(d.engine, reject, refuse)),
		},
		Resources: d.resources(),
		Templates: d.templates(),
	}
}

// mint returns a new id: the time in milliseconds and five random digits.
func (d *server) mint(now time.Time) (sequent.ID, error) {
	const lowest, count = 10_000, 90_000
	var raw [8]byte
	if _, err := io.ReadFull(d.rand, raw[:]); err != nil {
		return "", fmt.Errorf("wiki: no random bytes for an id: %w", err)
	}
	random := lowest + binary.LittleEndian.Uint64(raw[:])%count
	return sequent.ID(fmt.Sprintf("session-%d-%d", now.UnixMilli(), random)), nil
}

// author returns the name of the agent that calls.
func (d *server) author(ctx context.Context) string {
	return cmp.Or(oneLine(sequent.ContextOf(ctx).Agent), d.agent)
}
