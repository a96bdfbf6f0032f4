// Package wiki is the dialect whose thoughts carry [[WikiLinks]] and live as
// Markdown: a session is a note in a person's vault, beside the workflow that it
// is part of, the assumptions that it rests on and everything else that is
// known, and further tools search all of that and follow its links.
//
// The contract is in the .json and .md files, which are published as they stand,
// and in the transcripts in testdata. The log in the store is the truth for
// thoughts, the vault for notes. What the dialect needs of a vault it asks for
// through the interfaces of [Vault].
package wiki

import (
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
	"github.com/sequent-dev/sequent/tool"
)

// name is the dialect's, and where its sessions say they were begun.
const name = "wiki"

// defaultAgent is who thinks if nobody says.
const defaultAgent = "agent"

// A Config says what the dialect works with.
type Config struct {
	Engine *sequent.Engine // required

	// Linked reports whether a Markdown text holds a WikiLink. Required.
	Linked func(markdown string) bool

	// Open returns an owner's vault, the same for every call. It is called
	// often, and by calls at the same time. An error is one that a caller may
	// see. Required.
	Open func(ctx context.Context, owner string) (*Vault, error)

	Agent  string       // who thinks, in session files; empty means "agent"
	Rand   io.Reader    // where session ids come from; nil means crypto/rand
	Logger *slog.Logger // files that could not be written, never a thought; nil means discard
}

// A server is what the dialect's parts share.
type server struct {
	engine *sequent.Engine
	linked func(string) bool
	open   func(context.Context, string) (*Vault, error)
	agent  string
	rand   io.Reader
	logger *slog.Logger
	book   *book
}

var (
	//go:embed tool.json
	thinkSpec []byte
	//go:embed tool.md
	thinkText []byte
)

// New returns the dialect. It panics if something required is missing.
func New(cfg Config) dialect.Dialect {
	if cfg.Engine == nil || cfg.Linked == nil || cfg.Open == nil {
		panic("wiki: Config needs Engine, Linked and Open")
	}
	d := &server{
		engine: cfg.Engine, linked: cfg.Linked, open: cfg.Open,
		agent: oneLine(cfg.Agent), rand: cfg.Rand, logger: cfg.Logger, book: newBook(),
	}
	if d.agent == "" {
		d.agent = defaultAgent
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
			tool.New(tool.Parse(thinkSpec, thinkText), d.think, reject),
			tool.New(tool.Parse(workflowSpec, workflowText), d.workflow, reject),
			tool.New(tool.Parse(searchSpec, searchText), d.search, reject),
			tool.New(tool.Parse(contextSpec, contextText), d.context, reject),
			tool.New(tool.Parse(assumptionSpec, assumptionText), d.ledger, reject),
			tool.New(tool.Parse(syncSpec, syncText), d.sync, reject),
		},
		Resources: d.resources(),
		Templates: d.templates(),
	}
}

// mint returns a new id: the time in milliseconds and five digits of chance.
func (d *server) mint(now time.Time) (sequent.ID, error) {
	const lowest, count = 10_000, 90_000
	var raw [8]byte
	if _, err := io.ReadFull(d.rand, raw[:]); err != nil {
		return "", fmt.Errorf("wiki: no random bytes for an id: %w", err)
	}
	chance := lowest + binary.LittleEndian.Uint64(raw[:])%count
	return sequent.ID(fmt.Sprintf("session-%d-%d", now.UnixMilli(), chance)), nil
}
