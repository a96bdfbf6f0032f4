package thinking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"path/filepath"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// Files holds the notes of sessions in a vault. It is safe for concurrent use, also by
// several processes.
type Files struct {
	vault *vault.Vault
	id    string
}

// New returns the notes of sessions in a vault.
func New(v *vault.Vault) *Files {
	dir, err := filepath.Abs(v.Dir())
	if err != nil {
		dir = v.Dir()
	}
	sum := sha256.Sum256([]byte(dir))
	return &Files{vault: v, id: hex.EncodeToString(sum[:8])}
}

// ID is the LabelVault of sessions that should have a note in this vault. It depends on the
// vault's path.
func (f *Files) ID() string { return f.id }

// Find returns the URI of a session's note, and whether it exists. It searches all folders
// below Folder.
func (f *Files) Find(ctx context.Context, id sequent.ID) (vault.URI, bool, error) {
	if err := checkID(id); err != nil {
		return "", false, err
	}
	for _, p := range []string{flat(id), path.Join(Folder, begun(id).Format("2006/01/02"), string(id)+".md")} { // ours, and Maenifold's
		uri, err := vault.PathURI(p)
		if err == nil {
			_, err = f.vault.Stat(ctx, uri)
		}
		if !errors.Is(err, vault.ErrNotFound) {
			return uri, err == nil, err
		}
	}
	for info, err := range f.vault.WalkFolder(ctx, Folder) {
		if sequent.CodeOf(err) == sequent.CodeCanceled {
			return "", false, err
		}
		if err == nil && info.URI.Name() == string(id) {
			return info.URI, true, nil
		}
	}
	uri, err := vault.PathURI(flat(id))
	return uri, false, err
}

func flat(id sequent.ID) string { return path.Join(Folder, string(id)+".md") }

// Write writes what a session's note does not have yet: new thoughts, and the session's
// state. It is idempotent, and several processes may call it at once: each thought is
// written once, in the order of the log. Edited sections stay edited, deleted ones deleted.
// In front matter that is not YAML nothing is written.
//
// If Write fails, the next Write or Sync writes what is missing.
//
// It returns the URI of the note.
func (f *Files) Write(ctx context.Context, s *sequent.Session) (vault.URI, error) {
	uri, _, err := f.write(ctx, s, false)
	return uri, err
}

// write is Write. It reports whether it has written; with all, deleted sections come back.
func (f *Files) write(ctx context.Context, s *sequent.Session, all bool) (vault.URI, bool, error) {
	if err := checkID(s.ID()); err != nil {
		return "", false, err
	}
	uri, err := vault.PathURI(flat(s.ID()))
	exists := false
	if s.Version() > 1 { // else it is a new session
		uri, exists, err = f.Find(ctx, s.ID())
	}
	if err != nil {
		return "", false, err
	}
	if !exists {
		n, err := newNote(uri, s)
		if err == nil {
			err = merge(n, s, true, f.vault.MaxBytes())
		}
		if err == nil {
			err = f.vault.Create(ctx, n)
		}
		if !errors.Is(err, vault.ErrExists) {
			return uri, err == nil, err
		}
	}
	var before vault.Info
	n, err := f.vault.Update(ctx, uri, func(n *vault.Note) error {
		before = n.Info
		return merge(n, s, all, f.vault.MaxBytes())
	})
	if err != nil {
		return "", false, err
	}
	return uri, n.Info != before, nil
}

// Session returns the session in a note, for a store that does not have it. The error for
// a missing note matches sequent.ErrNotFound.
func (f *Files) Session(ctx context.Context, id sequent.ID) (sequent.Header, []sequent.Entry, error) {
	uri, ok, err := f.Find(ctx, id)
	if err != nil {
		return sequent.Header{}, nil, err
	}
	var n *vault.Note
	if ok {
		n, err = f.vault.Read(ctx, uri)
	}
	if !ok || errors.Is(err, vault.ErrNotFound) {
		err = noSession(id)
	}
	if err != nil {
		return sequent.Header{}, nil, err
	}
	return FromNote(ctx, id, n)
}

func noSession(id sequent.ID) error {
	return sequent.Errorf(sequent.CodeSessionNotFound, "sessionId", "check the id, or begin a new session",
		"there is no session %q", quoted(string(id)))
}
