package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sequent-dev/sequent"
)

// Check returns an error unless the file exists, can be read and has a format that this
// program may write.
func (s *Store) Check(ctx context.Context) error {
	if _, err := os.Stat(s.path); err != nil {
		return s.wrap(err) // open connections still read a removed file
	}
	version, err := schemaVersion(ctx, s.readers)
	if err == nil && version < latest {
		err = &sequent.Error{ // a backup was restored after Open
			Code: sequent.CodeUnavailable,
			Msg:  fmt.Sprintf("the store has format %d; this program needs format %d", version, latest),
			Fix:  "run `sequent migrate`",
		}
	}
	return s.wrap(err)
}

// Format returns the format of the store at path, 0 if it does not exist, and the
// format that Open would migrate it to. It changes nothing.
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
