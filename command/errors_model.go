package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent/agent/plan"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

// modelUserError converts an error of a language model or a plan.
func modelUserError(err error) (userError, bool) {
	if e, ok := errors.AsType[*plan.Error](err); ok {
		c := userError{Code: string(e.Code), Message: e.Msg, Fix: e.Fix, exit: exitFailure}
		switch e.Code {
		case plan.CodeNoProblem:
			c.exit = exitUsage
		case plan.CodeExhausted:
			c.exit = exitUnproven
		}
		return c, true
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return userError{}, false
	}
	c := userError{Code: string(e.Code), Message: e.Msg, Fix: e.Fix, exit: exitFailure}
	switch e.Code {
	case llm.CodeNoModel:
		c.Fix = "set the API key of a provider, or pass --model"
		c.exit, c.more = exitUsage, choices()
	case llm.CodeNoKey:
		c.exit, c.more = exitUsage, choices()
	}
	return c, true
}

// choices lists an example model of each provider with the variable of its key.
func choices() string {
	var keys, keyless strings.Builder
	for _, p := range openai.Providers() {
		if p.Keyless {
			fmt.Fprintf(&keyless, "  %-18s --model %s (run %s pull %s first)\n", "(local, no key)",
				p.Model, strings.ToLower(p.Title), strings.TrimPrefix(p.Model, p.Prefix))
			continue
		}
		fmt.Fprintf(&keys, "  %-18s --model %s\n", p.KeyVars[0], p.Model)
	}
	return "\n" + keys.String() + keyless.String() + "\n  docs/providers.md describes all variables.\n"
}
