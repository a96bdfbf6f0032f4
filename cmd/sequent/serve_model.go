package main

import (
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sequent-dev/sequent/internal/app"
)

// What a request to a language model is given if nobody says otherwise.
const (
	defaultModelTimeout = time.Minute
	defaultModelTries   = 3
)

// modelFlags are the flags about language models that think.
type modelFlags struct {
	name        string
	timeout     time.Duration
	maxAttempts int
}

// add gives a command the flags. Where says what they are for, if the command does
// more than that, and when the model is asked.
func (m *modelFlags) add(f *pflag.FlagSet, where, when string) {
	f.StringVar(&m.name, "model", "", where+"the language model that is asked"+when+", a `NAME` as in gpt-4o, glm-4.7, vendor/model or ollama:qwen3")
	f.DurationVar(&m.timeout, "model-timeout", defaultModelTimeout, where+"wait so long for an answer of a model, a `DURATION` for each try")
	f.IntVar(&m.maxAttempts, "model-tries", defaultModelTries, where+"ask a model at most `N` times where it may help")
}

// config returns what the flags say. Which variable names the model is not for
// the flag to decide: there are several, in an order.
func (m *modelFlags) config(p *program, c *cobra.Command) (app.ModelConfig, error) {
	switch {
	case m.timeout <= 0:
		return app.ModelConfig{}, usagef("--model-timeout cannot be %v, only a duration such as 90s", m.timeout)
	case m.maxAttempts < 1:
		return app.ModelConfig{}, usagef("--model-tries cannot be %d, only a number from 1 on", m.maxAttempts)
	}
	cfg := app.ModelConfig{Timeout: m.timeout, MaxAttempts: m.maxAttempts, Getenv: p.getenv}
	if c.Flags().Changed("model") && !slices.Contains(p.inherited, "model") {
		cfg.Name = m.name
	}
	return cfg, nil
}
