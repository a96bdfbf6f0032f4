package plan

// WithTokens returns a machine with another budget.
func WithTokens(m *Machine, tokens int) *Machine {
	cfg := m.cfg
	cfg.Tokens = tokens
	return New(cfg)
}
