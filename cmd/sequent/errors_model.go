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
		return complaint{Code: string(e.Code), Message: e.Msg, Fix: e.Fix, exit: exitFailure}, true
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
	var b strings.Builder
	b.WriteString("\n")
	keyless := ""
	for _, p := range openai.Providers() {
		if p.Keyless {
			keyless += fmt.Sprintf("\n  On this machine, without a key: %s (get the model with %s pull %s)\n",
				"--model "+p.Example, strings.ToLower(p.Title), strings.TrimPrefix(p.Example, p.Prefix))
			continue
		}
		fmt.Fprintf(&b, "  %-18s --model %s\n", p.KeyVars[0], p.Example)
	}
	return b.String() + keyless + "  docs/providers.md has all variables.\n"
}
