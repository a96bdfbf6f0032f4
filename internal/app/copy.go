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

func copySessions(ctx context.Context, from, to sequent.Store, report func(archive.Result)) (err error) {
	source := sequent.New(sequent.Config{Store: from})
	// What one engine has accepted, another one does not refuse for its length.
	unlimited := sequent.Limits{Text: -1, Name: -1, Thoughts: -1, Branches: -1, Bytes: -1}
	target := sequent.New(sequent.Config{Store: to, Limits: unlimited})
	// Changes meanwhile do not move a session in this order.
	q := sequent.Query{AllOwners: true, ByCreated: true, Limit: maxCopied}
	for more := true; more && err == nil; {
		var page sequent.Page
		if page, err = source.Sessions(ctx, q); err != nil {
			break
		}
		results, errs := make([]archive.Result, len(page.Headers)), make([]error, len(page.Headers))
		var wg sync.WaitGroup
		for i, h := range page.Headers {
			wg.Go(func() { results[i], errs[i] = copySession(ctx, source, target, h) })
		}
		wg.Wait()
		for i, r := range results {
			switch {
			case errs[i] == nil:
				report(r)
			case !errors.Is(errs[i], sequent.ErrNotFound): // else deleted meanwhile
				err = errs[i]
			}
		}
		q.Cursor, more = page.Next, page.Next != ""
	}
	if err != nil && ctx.Err() != nil {
		return &sequent.Error{
			Code: sequent.CodeCanceled, Msg: "canceled before all sessions were copied",
			Fix: "run the same command again to continue", Err: ctx.Err(),
		}
	}
	return err
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
