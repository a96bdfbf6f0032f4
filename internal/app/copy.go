package app

import (
	"context"
	"errors"

	"github.com/sequent-dev/sequent/internal/transfer"
)

// A CopyConfig describes a copy.
type CopyConfig struct {
	From, To string                 // stores, as in Config.Store
	Report   func(transfer.Result)  // called for each session except unchanged ones; nil for none
	Progress func(transfer.Summary) // called after each batch; nil for none
}

// Copy copies the sessions of all owners from one store to another; see
// [transfer.Copy]. It creates the target if necessary.
func Copy(ctx context.Context, cfg Config, job CopyConfig) (transfer.Summary, error) {
	from, err := Locate(job.From)
	if err != nil {
		return transfer.Summary{}, err
	}
	to, err := Locate(job.To)
	if err != nil {
		return transfer.Summary{}, err
	}
	switch {
	case from.Memory || to.Memory:
		return transfer.Summary{}, &ConfigError{
			Msg: "cannot copy sessions in memory: they exist only in the process that recorded them",
			Fix: "pass files or databases with --from and --to",
		}
	case samePlace(from, to):
		return transfer.Summary{}, &ConfigError{
			Msg: "--from and --to are the same store, " + from.String(),
			Fix: "pass two different stores",
		}
	}
	cfg.Store = job.From
	source, err := OpenExisting(ctx, cfg)
	if err != nil {
		return transfer.Summary{}, err
	}
	var sum transfer.Summary
	if source.store != nil { // otherwise the default store does not exist
		cfg.Store = job.To
		sum, err = source.copyTo(ctx, cfg, job)
	}
	return sum, errors.Join(err, source.Close())
}

func (a *App) copyTo(ctx context.Context, cfg Config, job CopyConfig) (sum transfer.Summary, err error) {
	target, err := Open(ctx, cfg)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if err := target.writable(ctx); err != nil {
		return sum, err
	}
	return transfer.Copy(ctx, transfer.Config{From: a.store, To: target.store, Report: job.Report, Progress: job.Progress})
}

func samePlace(a, b Place) bool {
	x, isDatabase := a.Database()
	y, also := b.Database()
	if isDatabase || also {
		return isDatabase && also && x == y
	}
	return a.Path == b.Path
}
