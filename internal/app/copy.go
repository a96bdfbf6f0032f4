package app

import (
	"context"
	"errors"
	"time"
)

// A CopyConfig says what to copy, and who wants to know how it goes.
type CopyConfig struct {
	From, To string            // stores, as Config.Store names them
	Report   func(Copied)      // told of each session but those that were there already; nil for nobody
	Progress func(CopySummary) // told now and then; nil for nobody
}

// Copy brings all sessions of all owners from one store into another. What the
// other has is not brought again, so whoever is stopped, or fails, runs it again.
// The source may be in use. The summary says what happened also if there is an
// error.
func Copy(ctx context.Context, cfg Config, job CopyConfig) (CopySummary, error) {
	from, err := Locate(job.From)
	if err != nil {
		return CopySummary{}, err
	}
	to, err := Locate(job.To)
	if err != nil {
		return CopySummary{}, err
	}
	switch {
	case from.Memory || to.Memory:
		return CopySummary{}, &ConfigError{
			Msg: "sessions in memory are gone with the process that has them, so they cannot be copied",
			Fix: "name files or databases with --from and --to",
		}
	case samePlace(from, to):
		return CopySummary{}, &ConfigError{
			Msg: "--from and --to name the same store, " + from.String(),
			Fix: "name another one",
		}
	}
	cfg.Store = job.From
	source, err := OpenExisting(ctx, cfg)
	if err != nil {
		return CopySummary{}, err
	}
	c := &copier{from: source.store, now: time.Now, report: job.Report, progress: job.Progress}
	if c.report == nil {
		c.report = func(Copied) {}
	}
	if c.progress == nil {
		c.progress = func(CopySummary) {}
	}
	if source.store != nil { // else nobody has made the default one yet
		err = c.into(ctx, cfg, job.To)
	}
	return c.sum, errors.Join(err, source.Close())
}

// into opens the other store and copies.
func (c *copier) into(ctx context.Context, cfg Config, to string) error {
	cfg.Store = to
	target, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	c.to = target.store
	err = target.writable(ctx)
	if err == nil {
		err = c.run(ctx)
	}
	return errors.Join(err, target.Close())
}

func samePlace(a, b Place) bool {
	x, isDatabase := a.Database()
	y, also := b.Database()
	if isDatabase || also {
		return isDatabase && also && x == y
	}
	return a.Path == b.Path
}
