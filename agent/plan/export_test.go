package plan

import (
	"context"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/tool"
)

// WithThink returns a machine with another Think function.
func WithThink(m *Machine, think func(sequent.ID, func(context.Context, *sequent.Change) error) tool.Tool) *Machine {
	cfg := m.cfg
	cfg.Think = think
	return New(cfg)
}

// WithTokenBudget returns a machine with another token budget.
func WithTokenBudget(m *Machine, tokens int) *Machine {
	cfg := m.cfg
	cfg.TokenBudget = tokens
	return New(cfg)
}

// WithModel returns a machine with another model.
func WithModel(m *Machine, model llm.Model) *Machine {
	cfg := m.cfg
	cfg.Model = model
	return New(cfg)
}
