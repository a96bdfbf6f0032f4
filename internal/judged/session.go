package judged

import (
	"context"
	"fmt"
	"os"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// Session returns the session of a file that sequent export has written, and an engine that has
// it and no other.
func Session(ctx context.Context, file string) (*sequent.Engine, *sequent.Session, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	h, entries, err := archive.ReadJSON(f)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	e := sequent.New(sequent.Config{})
	if _, err := e.Restore(ctx, h, entries); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	s, err := e.Session(ctx, h.ID)
	return e, s, err
}
