package plan

import (
	"context"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// WithThink returns a machine with another tool that thinks.
func WithThink(m *Machine, think func(sequent.ID, func(context.Context, *sequent.Change) error) tool.Tool) *Machine {
	cfg := m.cfg
	cfg.Think = think
	return New(cfg)
}

// WithTokens returns a machine with another budget.
func WithTokens(m *Machine, tokens int) *Machine {
	cfg := m.cfg
	cfg.Tokens = tokens
	return New(cfg)
}

// WithModel returns a machine with another model.
func WithModel(m *Machine, model llm.Model) *Machine {
	cfg := m.cfg
	cfg.Model = model
	return New(cfg)
}
