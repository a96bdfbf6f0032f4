package command

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/llm/openai"
)

// modelFlags are the flags that configure a language model.
type modelFlags struct {
	name        string
	timeout     time.Duration
	maxAttempts int
}

// add adds the flags to a command. Suffix ends their descriptions.
func (m *modelFlags) add(f *pflag.FlagSet, suffix string) {
	f.StringVar(&m.name, "model", "", "language model, such as gpt-4o, glm-4.7, vendor/model or ollama:qwen3"+suffix)
	m.timeout = openai.DefaultTimeout
	f.Var((*span)(&m.timeout), "model-timeout", "timeout of each attempt to get a model's answer"+suffix)
	f.IntVar(&m.maxAttempts, "model-tries", openai.DefaultMaxAttempts, "maximum attempts to get a model's answer"+suffix)
}

// config returns the configuration. It ignores --model from the environment,
// because package openai reads the variables itself: LUX_MODEL_NORMAL takes
// precedence over SEQUENT_MODEL.
func (m *modelFlags) config(p *program, c *cobra.Command) (app.ModelConfig, error) {
	switch {
	case m.timeout == 0:
		return app.ModelConfig{}, invalid("model-timeout", "0", "a duration such as 90s")
	case m.maxAttempts < 1:
		return app.ModelConfig{}, invalid("model-tries", m.maxAttempts, "a number of attempts, at least 1")
	}
	cfg := app.ModelConfig{Getenv: p.getenv}
	if c.Flags().Changed("model-timeout") { // otherwise variables of lux-mcp apply
		cfg.Timeout = m.timeout
	}
	if c.Flags().Changed("model-tries") {
		cfg.MaxAttempts = m.maxAttempts
	}
	if c.Flags().Changed("model") && !slices.Contains(p.inherited, "model") {
		cfg.Name = m.name
	}
	return cfg, nil
}
