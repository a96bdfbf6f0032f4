package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sequent-dev/sequent"
)

// Check looks whether the store can be read, and whether its format is that of
// this program.
func (s *Store) Check(ctx context.Context) error {
	if _, err := os.Stat(s.path); err != nil {
		return s.wrap(err) // those who have it open can still read it
	}
	version, err := schemaVersion(ctx, s.readers)
	if err == nil && version != latest {
		err = &sequent.Error{ // Open has seen to it: somebody has restored a backup since
			Code: sequent.CodeUnavailable,
			Msg:  fmt.Sprintf("the store has format %d, and this program needs %d", version, latest),
			Fix:  "bring it up to date with sequent migrate",
		}
	}
	return s.wrap(err)
}

// Format returns the format of the store at path, 0 if there is none yet, and the
// one that this program brings it to. It changes nothing.
func Format(ctx context.Context, path string) (have, want int, err error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return 0, latest, nil
	case err == nil && info.Size() == 0:
		return 0, latest, nil
	}
	s := &Store{path: path, readOnly: true, closed: make(chan struct{})}
	if s.path, err = s.locate(path); err != nil {
		return 0, latest, s.wrap(err)
	}
	db, err := s.connect(ctx)
	if err != nil {
		return 0, latest, s.wrap(err)
	}
	have, err = schemaVersion(ctx, db)
	return have, latest, s.wrap(errors.Join(err, db.Close()))
}
