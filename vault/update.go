package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

// Read returns a note. The error for a missing note matches ErrNotFound, the one for a
// file that is not text has the code CodeNotText.
func (v *Vault) Read(ctx context.Context, uri URI) (n *Note, err error) {
	err = at(ctx, uri, func(p string) (err error) {
		n, err = v.read(p)
		return err
	})
	return n, err
}

// Stat returns the size and time of a note, without reading it.
func (v *Vault) Stat(ctx context.Context, uri URI) (info Info, err error) {
	err = at(ctx, uri, func(p string) error {
		stat, err := v.lstat(p)
		if err == nil {
			info = infoOf(p, stat)
		}
		return err
	})
	return info, err
}

// at calls f with the path of a note.
func at(ctx context.Context, uri URI, f func(p string) error) error {
	p, err := pathOf(string(uri))
	if err != nil {
		return err
	}
	if err = ctx.Err(); err == nil {
		err = f(p)
	}
	return wrap(err, uriOf(p))
}

// hold calls f with the path of a note while it holds the lock of all that write to the
// vault, in this process and in others. Editors do not know the lock.
func (v *Vault) hold(ctx context.Context, uri URI, f func(p string) error) error {
	return at(ctx, uri, func(p string) error {
		unlock, err := v.lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
		return f(p)
	})
}

func (v *Vault) lock(ctx context.Context) (unlock func(), err error) {
	if err := v.makeFolder(stateDir); err != nil {
		return nil, err
	}
	l := fairlock.New(filepath.Join(v.dir, stateDir, "lock"), os.O_CREATE|os.O_RDWR|openFlags)
	if err = l.Acquire(ctx, v.lockTimeout); err != nil {
		_ = l.Close()
	}
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil, &sequent.Error{
			Code: CodeNotSupported, Err: err,
			Msg: "the file system of the vault has no locks, and without them two programs would overwrite each other's notes",
			Fix: "put the vault on a local disk",
		}
	case errors.Is(err, fairlock.ErrTimeout):
		return nil, sequent.Errorf(CodeBusy, "", "try again; if this continues, look for a program that has the vault open and hangs",
			"another program has locked the vault for too long; nothing was written")
	}
	return func() { _ = l.Close() }, err
}

// Create writes a new note at n.URI. If there is a file already, the error matches
// ErrExists.
//
// After Create returns nil, the complete note is on disk. After an error there is no
// note, unless flushing the folder failed.
func (v *Vault) Create(ctx context.Context, n *Note) error {
	return v.hold(ctx, n.URI, func(p string) error {
		if err := v.Room(ctx); err != nil {
			return err
		}
		info, err := v.write(p, n.Bytes(), nil)
		if err == nil {
			n.URI, n.Info = uriOf(p), infoOf(p, info)
		}
		return err
	})
}

// Update changes a note. change edits the front matter and body of the note that it
// gets. If the file changes during the update, change is called again with the new
// note, so it must have no other effects. If change returns an error, Update returns
// it. After an error, or if change changes nothing, nothing is written.
//
// After Update returns nil, the complete note is on disk. After an error the file is
// unchanged, unless flushing the folder failed. The file keeps its permissions.
func (v *Vault) Update(ctx context.Context, uri URI, change func(*Note) error) (n *Note, err error) {
	const maxAttempts, maxPauses, pause, recent = 20, 5, 20 * time.Millisecond, time.Second
	err = v.hold(ctx, uri, func(p string) error {
		for attempt := range maxAttempts {
			if n, err = v.read(p); err != nil {
				return err
			}
			if n.data == "" && attempt < maxPauses && time.Since(n.Info.Modified) < recent {
				time.Sleep(pause) // some editors empty a file before they write it
				continue
			}
			if err := change(n); err != nil {
				return err
			}
			data := n.Bytes()
			if string(data) == n.data {
				return nil
			}
			info, err := v.write(p, data, n.stat)
			if err != nil {
				return err
			}
			if info != nil {
				n.URI, n.data, n.stat, n.Info = uriOf(p), string(data), info, infoOf(p, info)
				return nil
			}
		}
		return sequent.Errorf(CodeConflict, "", "try again", "%s kept changing during the call; nothing was written", uriOf(p))
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Delete removes a note. check, unless it is nil, gets the note under its lock; its error
// is returned, and the note stays. The error for a missing note matches ErrNotFound.
func (v *Vault) Delete(ctx context.Context, uri URI, check func(*Note) error) error {
	return v.hold(ctx, uri, func(p string) error {
		_, err := v.lstat(p)
		if err == nil && check != nil {
			var n *Note
			if n, err = v.read(p); err == nil {
				err = check(n)
			}
		}
		if err == nil {
			err = v.root.Remove(p)
		}
		if err != nil {
			return err
		}
		return durable.SyncDir(v.root, path.Dir(p))
	})
}

// Rename gives a note another URI. The error for an existing file at the new place matches
// ErrExists. Links to the note stay as they are.
func (v *Vault) Rename(ctx context.Context, from, to URI) error {
	q, err := pathOf(string(to))
	if err != nil {
		return err
	}
	return v.hold(ctx, from, func(p string) error {
		file, err := v.lstat(p)
		if err == nil {
			err = v.makeFolder(path.Dir(q))
		}
		if err != nil {
			return err
		}
		// On a case-insensitive file system, both names can be one.
		there, err := v.lstat(q)
		one := err == nil && os.SameFile(there, file)
		if err != nil || one {
			err = v.rename(p, q, one)
		} else {
			err = fs.ErrExist
		}
		switch {
		case errors.Is(err, fs.ErrExist):
			return wrap(err, uriOf(q))
		case err != nil:
			return err
		}
		return durable.SyncDir(v.root, path.Dir(p))
	})
}
