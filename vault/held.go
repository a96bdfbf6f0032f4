package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/sequent-dev/sequent/internal/durable"
)

// A Held is a locked note, or the locked place of a new one. Other users of this
// package do not write to it. Editors do not know the lock.
type Held struct {
	ctx context.Context
	v   *Vault
	p   string
	uri URI

	wrote bool // a write was attempted
}

// Hold calls f while it holds the lock of a note. It waits for other holders up to
// [Config.LockTimeout] and then fails with CodeBusy. f must write to the vault only
// through h.
func (v *Vault) Hold(ctx context.Context, uri URI, f func(h *Held) error) error {
	p, err := pathOf(string(uri))
	if err != nil {
		return err
	}
	uri = uriOf(p)
	unlock, err := v.lock(ctx, p)
	if err != nil {
		return wrap(err, uri)
	}
	defer unlock()
	h := &Held{ctx: ctx, v: v, p: p, uri: uri}
	err = f(h)
	if h.wrote {
		v.wrote(uri)
	}
	return err
}

// Stat returns what the file system knows of the note, without reading it.
func (h *Held) Stat() (Info, error) { return h.v.Stat(h.ctx, h.uri) }

// Read returns the note. If the note has just become empty, Read waits for up to a
// tenth of a second, because an editor may be saving it.
func (h *Held) Read() (*Note, error) {
	n, err := h.settled()
	return n, wrap(err, h.uri)
}

// settled reads the note. Some editors empty a file before they write it. To change
// and replace the empty note would lose what they write.
func (h *Held) settled() (*Note, error) {
	const (
		recent    = time.Second
		pause     = 20 * time.Millisecond
		maxPauses = 5
	)
	for pauses := 0; ; pauses++ {
		if err := h.ctx.Err(); err != nil {
			return nil, err
		}
		n, err := h.v.read(h.p)
		if err != nil || n.data != "" || pauses == maxPauses || time.Since(n.Info.Modified) > recent {
			return n, err
		}
		select {
		case <-h.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// Create is [Vault.Create] at the locked place; it sets n.URI.
func (h *Held) Create(n *Note) error {
	if err := h.v.reserve(h.ctx, 1); err != nil {
		return err
	}
	h.wrote = true
	info, err := h.v.create(h.p, n.Bytes())
	if err != nil {
		h.v.tally.removed()
		return wrap(err, h.uri)
	}
	n.URI, n.Info = h.uri, infoOf(h.p, info)
	return nil
}

// Update is [Vault.Update] of this note.
func (h *Held) Update(change func(*Note) error) (*Note, error) {
	for range maxAttempts {
		old, err := h.settled()
		if err != nil {
			return nil, wrap(err, h.uri)
		}
		n := old.clone()
		if err := change(n); err != nil {
			return nil, err
		}
		data := n.Bytes()
		if string(data) == old.data {
			return n, nil
		}
		h.wrote = true
		info, err := h.v.replace(h.p, data, old.stat)
		if err != nil {
			return nil, wrap(err, h.uri)
		}
		if info != nil {
			n.URI, n.data, n.stat, n.Info = h.uri, string(data), info, infoOf(h.p, info)
			return n, nil
		}
	}
	return nil, conflict(h.uri)
}

// Append adds text at the note's end and returns the new state of the file. It does not
// read the note, so that its cost does not depend on the note's length. If seen is not
// zero, the file must be in that state; otherwise Append fails with CodeConflict.
//
// After an error or a crash the file may end in a part of the text, or in all of it.
// CodeConflict means that another program has written the file. A file with several
// hard links is replaced, because another link may be a backup.
func (h *Held) Append(text string, seen Info) (Info, error) {
	info, err := h.append(text, seen)
	return info, wrap(err, h.uri)
}

func (h *Held) append(text string, seen Info) (Info, error) {
	if err := h.ctx.Err(); err != nil {
		return Info{}, err
	}
	f, info, err := h.v.open(h.p, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	if seen != (Info{}) && seen != infoOf(h.p, info) {
		return Info{}, conflict(h.uri)
	}
	if links(info) > 1 {
		n, err := h.Update(func(n *Note) error { n.Body += text; return nil })
		if err != nil {
			return Info{}, err
		}
		return n.Info, nil
	}
	if info.Size()+int64(len(text)) > h.v.maxBytes {
		return Info{}, h.v.tooLarge(h.uri)
	}
	if info.Mode().Perm()&0o200 == 0 {
		return Info{}, &fs.PathError{Op: "append", Path: h.p, Err: fs.ErrPermission}
	}
	h.wrote = true
	if _, err := f.WriteString(text); err != nil {
		return Info{}, err
	}
	if err := f.Sync(); err != nil {
		return Info{}, err
	}
	// If another file has taken this one's place, the text is lost with the old file.
	// If another program has written to it, the text may be overwritten.
	after, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	now, err := h.v.lstat(h.p)
	if err == nil && os.SameFile(after, now) && after.Size() == info.Size()+int64(len(text)) {
		return infoOf(h.p, after), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Info{}, err
	}
	return Info{}, conflict(h.uri)
}

// Delete is [Vault.Delete] of this note.
func (h *Held) Delete() error {
	if _, err := h.v.lstat(h.p); err != nil {
		return wrap(err, h.uri)
	}
	h.wrote = true
	if err := h.v.root.Remove(h.p); err != nil {
		return wrap(err, h.uri)
	}
	h.v.tally.removed()
	return wrap(durable.SyncDir(h.v.root, path.Dir(h.p)), h.uri)
}
