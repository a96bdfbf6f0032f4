package index

import "context"

// Rebuild is Sync after the index has been thrown away: it reads every note and
// asks the Embedder for every passage. Searches of this and other processes wait
// for it or make the index themselves, as after damage.
func (x *Index) Rebuild(ctx context.Context, progress func(Progress)) (Report, error) {
	unlock, err := x.lock(ctx)
	if err != nil {
		return Report{}, wrap(err)
	}
	err = x.discard()
	unlock()
	if err != nil {
		return Report{}, wrap(err)
	}
	return x.Sync(ctx, progress)
}
