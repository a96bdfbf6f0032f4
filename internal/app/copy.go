package app

import (
	"context"
	"errors"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// Copy restores the sessions of all owners from the configured store in another one, with their
// chains; see [sequent.Engine.Restore]. It creates the target if necessary. Each session is copied
// as a whole or not at all, and only what the target lacks is written, so an interrupted copy can
// be run again. A session that is not what was recorded is not copied. Both stores may be in use:
// the copy has at least what the source had when Copy began.
//
// Copy calls report for each session, one at a time.
func Copy(ctx context.Context, cfg Config, to string, report func(archive.Result)) error {
	from, err := Locate(cfg.Store)
	if err != nil {
		return err
	}
	place, err := Locate(to)
	switch {
	case err != nil:
		return err
	case from.Memory || place.Memory:
		return usage("cannot copy sessions in memory: they exist only in the process that recorded them",
			"pass files or databases with --store and --to")
	case from.is(place):
		return usage("--store and --to are the same store, "+from.String(), "pass two different stores")
	}
	source, err := OpenExisting(ctx, cfg)
	if err != nil {
		return err
	}
	if source.store == nil { // the default store does not exist
		return source.Close()
	}
	cfg.Store = to
	target, err := Open(ctx, cfg)
	if err == nil {
		if err = target.writable(ctx); err == nil {
			err = copySessions(ctx, source.store, target.store, report)
		}
		err = errors.Join(err, target.Close())
	}
	return errors.Join(err, source.Close())
}

// maxCopied is how many sessions are copied at a time. They share commits.
const maxCopied = 64

func copySessions(ctx context.Context, from, to sequent.Store, report func(archive.Result)) error {
	whole := ctx
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	source := sequent.New(sequent.Config{Store: from})
	// What one engine has accepted, another one does not refuse for its length.
	unlimited := sequent.Limits{Text: -1, Name: -1, Thoughts: -1, Branches: -1, Bytes: -1}
	target := sequent.New(sequent.Config{Store: to, Limits: unlimited})
	var reporting sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxCopied)
	// Changes meanwhile do not move a session in this order.
	for h, err := range source.AllSessions(ctx, sequent.Query{AllOwners: true, ByCreated: true}) {
		if err != nil {
			stop(err)
			break
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			r, err := copySession(ctx, source, target, h)
			reporting.Lock()
			defer reporting.Unlock()
			switch {
			case err == nil:
				report(r)
			case !errors.Is(err, sequent.ErrNotFound): // else deleted meanwhile
				stop(err)
			}
		})
	}
	wg.Wait()
	if whole.Err() != nil {
		return &sequent.Error{
			Code: sequent.CodeCanceled, Msg: "canceled before all sessions were copied",
			Fix: "run the same command again to continue", Err: whole.Err(),
		}
	}
	return context.Cause(ctx)
}

// copySession copies one session. An error is one of the stores, which ends the copy.
func copySession(ctx context.Context, from, to *sequent.Engine, listed sequent.Header) (archive.Result, error) {
	h, log, err := from.Owned(listed.Owner).Entries(ctx, listed.ID, sequent.Position{})
	r := archive.Result{Key: listed.Key, Title: listed.Title, Outcome: archive.Failed, Thoughts: h.Len}
	if err == nil {
		if v := sequent.Verify(h, log); v.Fault != nil {
			err = sequent.Errorf(sequent.CodeCorrupt, "sessionId", "restore it from a backup, or delete it",
				"the session %q is not what was recorded: %v", h.ID, v.Fault)
		}
	}
	if err == nil {
		var did sequent.Restored
		if did, err = to.Owned(h.Owner).Restore(ctx, h, log); err == nil {
			r.Outcome = archive.OutcomeOf(did)
		}
	}
	if archive.OfSession(err) {
		r.Err, err = err, nil
	}
	return r, err
}
