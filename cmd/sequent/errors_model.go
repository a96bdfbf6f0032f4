package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

// complainOfModel finds the words for what goes wrong with language models and
// with plans.
func complainOfModel(err error) (complaint, bool) {
	if e, ok := errors.AsType[*plan.Error](err); ok {
		c := complaint{Code: string(e.Code), Message: e.Msg, Fix: e.Fix, exit: exitFailure}
		if e.Code == plan.CodeNoProblem {
			c.exit = exitUsage
		}
		return c, true
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return complaint{}, false
	}
	c := complaint{Code: string(e.Code), Message: e.Msg, Fix: e.Fix, exit: exitFailure}
	switch e.Code {
	case llm.CodeNoModel:
		c.Fix = "choose one with --model, or for good with SEQUENT_MODEL, and set the key of its provider"
		c.exit, c.more = exitUsage, choices()
	case llm.CodeNoKey:
		c.exit, c.more = exitUsage, choices()
	}
	return c, true
}

// choices are the models that somebody may begin with, and what each needs.
func choices() string {
	var keys, keyless strings.Builder
	for _, p := range openai.Providers() {
		if p.Keyless {
			fmt.Fprintf(&keyless, "  On this machine, without a key: --model %s (get the model with %s pull %s)\n",
				p.Example, strings.ToLower(p.Title), strings.TrimPrefix(p.Example, p.Prefix))
			continue
		}
		fmt.Fprintf(&keys, "  %-18s --model %s\n", p.KeyVars[0], p.Example)
	}
	return "\n" + keys.String() + "\n" + keyless.String() + "  docs/providers.md has all variables.\n"
}
