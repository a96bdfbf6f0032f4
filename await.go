package sequent

import "context"

// Await waits until a session has left a position, or may have, by a change in
// whatever process or by being deleted. It may return early: the caller looks
// again with [Engine.Session]. When ctx is done first the error wraps ctx.Err().
func (e *Engine) Await(ctx context.Context, id ID, have Position) error {
	k, err := e.key(id)
	if err != nil {
		return err
	}
	return e.store.Wait(ctx, k, have)
}
