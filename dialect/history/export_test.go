package history

import (
	"context"

	"github.com/sequent-dev/sequent"
)

// Sweep removes the expired sessions of a tool and returns how many there were.
func Sweep(ctx context.Context, t *Tool) (int, error) {
	return t.engine.Sweep(ctx, sequent.Query{AllOwners: true, Expired: t.engine.Now()})
}
