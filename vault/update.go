package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/durable"
)

// Read returns a note. The error for a missing note matches ErrNotFound, the one for a
// file that is not text has the code CodeNotText.
func (v *Vault) Read(ctx context.Context, uri URI) (*Note, error) {
	p, err := pathOf(string(uri))
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, wrap(err, uri)
	}
	n, err := v.read(p)
	return n, wrap(err, uriOf(p))
}

// Stat returns the size and time of a note, without reading it.
func (v *Vault) Stat(ctx context.Context, uri URI) (Info, error) {
	p, err := pathOf(string(uri))
	if err != nil {
		return Info{}, err
	}
	info, err := v.lstat(p)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Info{}, wrap(err, uriOf(p))
	}
	return infoOf(p, info), nil
}

// hold calls f with the path of a note while it holds the note's lock. It waits for other
// holders up to [Config.LockTimeout] and then fails with CodeBusy. Editors do not know
// the lock.
func (v *Vault) hold(ctx context.Context, uri URI, f func(p string) error) error {
	p, err := pathOf(string(uri))
	if err != nil {
		return err
	}
	unlock, err := v.lock(ctx, stripeOf(p))
	if err != nil {
		return wrap(err, uriOf(p))
	}
	defer unlock()
	return wrap(f(p), uriOf(p))
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
		info, err := v.create(p, n.Bytes())
		if err != nil {
			return err
		}
		v.count(1)
		n.URI, n.Info = uriOf(p), infoOf(p, info)
		return nil
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
	err = v.hold(ctx, uri, func(p string) error {
		for range maxAttempts {
			old, err := v.settled(ctx, p)
			if err != nil {
				return err
			}
			changed := *old
			n = &changed
			if err := change(n); err != nil {
				return err
			}
			data := n.Bytes()
			if string(data) == old.data {
				return nil
			}
			info, err := v.replace(p, data, old.stat)
			if err != nil {
				return err
			}
			if info != nil {
				n.URI, n.data, n.stat, n.Info = uriOf(p), string(data), info, infoOf(p, info)
				return nil
			}
		}
		return conflict(uriOf(p))
	})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// settled reads a note. Some editors empty a file before they write it: to replace the
// empty note would lose what they write.
func (v *Vault) settled(ctx context.Context, p string) (*Note, error) {
	const pause, recent, maxPauses = 20 * time.Millisecond, time.Second, 5
	for pauses := 0; ; pauses++ {
		n, err := v.read(p)
		if err != nil || n.data != "" || pauses == maxPauses || time.Since(n.Info.Modified) > recent {
			return n, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// Delete removes a note. check, unless it is nil, gets the note under its lock; its error
// is returned, and the note stays. The error for a missing note matches ErrNotFound.
func (v *Vault) Delete(ctx context.Context, uri URI, check func(*Note) error) error {
	return v.hold(ctx, uri, func(p string) error {
		if err := v.checked(p, check); err != nil {
			return err
		}
		if err := v.root.Remove(p); err != nil {
			return err
		}
		v.count(-1)
		return durable.SyncDir(v.root, path.Dir(p))
	})
}

// checked calls check, unless it is nil, with the note at a path.
func (v *Vault) checked(p string, check func(*Note) error) error {
	if check == nil {
		_, err := v.lstat(p)
		return err
	}
	n, err := v.read(p)
	if err != nil {
		return err
	}
	return check(n)
}

// Rename gives a note another URI. check is as for [Vault.Delete]. The error for an
// existing file at the new place matches ErrExists. Links to the note stay as they are.
//
// A process that is killed in between may leave the note under both names, which is one
// file: Rename with the same arguments then removes the old name.
func (v *Vault) Rename(ctx context.Context, from, to URI, check func(*Note) error) (*Note, error) {
	q, err := pathOf(string(to))
	if err != nil {
		return nil, err
	}
	err = v.hold(ctx, from, func(p string) error {
		if err := v.checked(p, check); err != nil {
			return err
		}
		return wrap(v.rename(p, q), uriOf(q))
	})
	if err != nil {
		return nil, err
	}
	n, err := v.read(q)
	return n, wrap(err, uriOf(q))
}

func (v *Vault) rename(p, q string) error {
	file, err := v.root.Lstat(p)
	if err != nil {
		return err
	}
	if err := v.noLinksOnTheWay(q); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := v.makeFolder(path.Dir(q)); err != nil {
		return err
	}
	there, err := v.root.Lstat(q)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = v.place(p, q)
	case err == nil && !os.SameFile(there, file):
		err = fs.ErrExist
	case err == nil && strings.EqualFold(p, q): // on a case-insensitive file system, both names are one
		return v.root.Rename(p, q)
	}
	if err != nil {
		return err
	}
	if err := v.root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.SyncDir(v.root, path.Dir(p))
}

// place gives the file p the name q, too, unless there is a file already; on file systems
// without hard links, instead.
func (v *Vault) place(p, q string) error {
	err := v.root.Link(p, q) // unlike a rename, it fails if there is a file by now
	if noLinks(err) {
		err = v.root.Rename(p, q)
	}
	if err != nil {
		return err
	}
	return durable.SyncDir(v.root, path.Dir(q))
}
