package app

import (
	"cmp"
	"context"
	"errors"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// Vaults returns the vaults, which the app closes.
func (a *App) Vaults() (*vaults.Vaults, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.vaults != nil {
		return a.vaults, nil
	}
	dir, err := absolute(cmp.Or(a.config.Vault, "~/Documents/sequent-vault"))
	if err != nil {
		return nil, err
	}
	cfg := vaults.Config{Dir: dir, Engine: a.Engine, MaxNotes: a.config.QuotaNotes, Logger: a.logger}
	m := a.config.Model
	embedder, err := openai.NewEmbedder(openai.Config{Timeout: m.Timeout, MaxAttempts: m.MaxAttempts, Getenv: m.Getenv})
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return nil, usage(e.Msg, e.Fix)
	}
	if err != nil {
		return nil, err
	}
	if embedder != nil {
		cfg.Embedder, cfg.Model = embedder, embedder.Model()
	}
	a.vaults = vaults.New(cfg)
	return a.vaults, nil
}

// wiki opens the local user's folder if the configuration names it or the dialect, so
// that an invalid folder is reported at the start. Otherwise the first call opens it: a
// server of all dialects may not need a vault.
func (a *App) wiki(dialect.Env) (dialect.Dialect, error) {
	v, err := a.Vaults()
	if err != nil {
		return dialect.Dialect{}, err
	}
	if a.config.Vault != "" || a.config.Dialect == "wiki" {
		if _, err := v.Open(context.Background(), ""); err != nil {
			if e, ok := errors.AsType[*sequent.Error](err); ok {
				err = usage(v.Dir("")+": "+e.Msg, e.Fix+"; or pass another folder with --vault DIR")
			}
			return dialect.Dialect{}, err
		}
	}
	return wiki.New(wiki.Config{Vaults: v, Agent: a.config.Agent}), nil
}
