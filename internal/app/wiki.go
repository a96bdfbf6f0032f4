package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/internal/app/vaults"
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/llm/openai"
)

// DefaultVault returns the folder of notes that is used if none is named.
func DefaultVault() (string, error) {
	dir, err := home()
	return filepath.Join(dir, "Documents", "sequent-vault"), err
}

// VaultDir returns the folder of notes that a value of --vault means; empty means
// the default one.
func VaultDir(path string) (string, error) {
	if path == "" {
		return DefaultVault()
	}
	path, err := expand(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// Vaults returns the folders of notes, which are closed with the app. With watch,
// they are looked after in the background as soon as they are opened.
func (a *App) Vaults(watch bool) (*vaults.Vaults, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.vaults != nil {
		return a.vaults, nil
	}
	dir, err := VaultDir(a.config.Vault)
	if err != nil {
		return nil, err
	}
	cfg := vaults.Config{Dir: dir, Engine: a.Engine, Agent: a.config.Agent, Watch: watch, Logger: a.logger}
	if cache, err := os.UserCacheDir(); err == nil { // else there is none
		cfg.Cache = filepath.Join(cache, "sequent", "vaults")
	}
	m := a.config.Model
	embedder, err := openai.NewEmbedder(openai.Config{Timeout: m.Timeout, MaxAttempts: m.MaxAttempts, Getenv: m.Getenv})
	if e, ok := errors.AsType[*llm.Error](err); ok {
		return nil, &ConfigError{Msg: e.Msg, Fix: e.Fix}
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

// buildWiki opens the local user's folder if somebody has asked for it, so that
// one that cannot be used is known at the start. Else it waits for the first call:
// who serves all dialects may not want a vault.
func buildWiki(a *App) (dialect.Dialect, error) {
	v, err := a.Vaults(true)
	if err != nil {
		return dialect.Dialect{}, err
	}
	if a.config.Vault != "" || a.config.Dialect == "wiki" {
		if _, err := v.Open(context.Background(), ""); err != nil {
			if e, ok := errors.AsType[*sequent.Error](err); ok {
				err = &ConfigError{Msg: v.Dir() + ": " + e.Msg, Fix: e.Fix + "; or name another folder with --vault DIR"}
			}
			return dialect.Dialect{}, err
		}
	}
	return v.Dialect(wiki.Config{}), nil
}
