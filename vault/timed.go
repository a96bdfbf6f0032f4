package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"
)

// CreateTimed creates a note whose name is kind-{unix ms}, with the first time from at on
// that no note of the folder has. fill writes the note; it is called for each time tried.
func (v *Vault) CreateTimed(ctx context.Context, folder, kind string, at time.Time, fill func(n *Note, name string) error) (*Note, error) {
	for ms := at.UnixMilli(); ; ms++ {
		name := fmt.Sprintf("%s-%d", kind, ms)
		uri, err := PathURI(path.Join(folder, name))
		n := &Note{URI: uri}
		if err == nil {
			err = fill(n, name)
		}
		if err == nil {
			err = v.Create(ctx, n)
		}
		if !errors.Is(err, ErrExists) {
			return n, err
		}
	}
}
