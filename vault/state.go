package vault

import (
	"cmp"
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path"
)

// State returns the folder .sequent of the vault, which it makes: for what can
// be made again from the notes. The caller closes it. Names in it belong to the
// package that made them; locks and tmp are taken.
func (v *Vault) State() (*os.Root, error) {
	if err := v.checkState(); err != nil {
		return nil, err
	}
	if err := v.makeFolder(stateDir); err != nil {
		return nil, wrap(err, scheme)
	}
	root, err := v.root.OpenRoot(stateDir)
	return root, wrap(err, scheme)
}

// ReadState returns a file of the folder .sequent/{folder} of the vault, and an
// error matching ErrNotFound if there is none.
func (v *Vault) ReadState(ctx context.Context, folder, name string) ([]byte, error) {
	p := path.Join(stateDir, folder, name)
	if err := ctx.Err(); err != nil {
		return nil, wrap(err, fileURI(p))
	}
	data, _, err := v.readFile(p)
	return data, wrap(err, fileURI(p))
}

// WriteState writes a file of the folder .sequent/{folder} of the vault, and
// flushes nothing: after a crash the file may hold anything. Names are those of
// files, without slashes.
func (v *Vault) WriteState(folder, name string, data []byte) error {
	dir := path.Join(stateDir, folder)
	p := path.Join(dir, name)
	if err := v.makeFolder(dir); err != nil {
		return wrap(err, fileURI(p))
	}
	if info, err := v.root.Lstat(p); err == nil && info.Mode()&fs.ModeType != 0 {
		return notANote(fileURI(p), "it is not an ordinary file")
	}
	f, err := v.root.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|openFlags, 0o600)
	if err != nil {
		return wrap(err, fileURI(p))
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return wrap(err, fileURI(p))
}

// Writable returns why the folder .sequent, and so the vault, cannot be written;
// nil if it can.
func (v *Vault) Writable() error {
	const enough = 16 << 10 // bytes, for a full disk to be noticed
	if err := v.checkState(); err != nil {
		return err
	}
	if err := v.makeFolder(tempDir); err != nil {
		return wrap(err, scheme)
	}
	name := tempDir + "/" + rand.Text()
	f, err := v.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return wrap(err, scheme)
	}
	_, err = f.Write(make([]byte, enough))
	err = cmp.Or(err, f.Close(), v.root.Remove(name))
	return wrap(err, scheme)
}

// ID returns what tells this vault from others, wherever it is moved: 26
// characters, which the first call makes and keeps in the folder .sequent. What
// is proposed is taken if there is none yet; empty means a new one.
func (v *Vault) ID(ctx context.Context, proposed string) (string, error) {
	const name = stateDir + "/id"
	id := func() string {
		data, _, err := v.readFile(name)
		if err == nil && len(data) == idLength+1 {
			return string(data[:idLength])
		}
		return ""
	}
	if id := id(); id != "" {
		return id, nil
	}
	unlock, err := v.lock(ctx, name)
	if err != nil {
		return "", wrap(err, scheme)
	}
	defer unlock()
	if id := id(); id != "" {
		return id, nil // another process was faster
	}
	if len(proposed) != idLength {
		proposed = rand.Text()
	}
	temp, err := v.writeTemp([]byte(proposed+"\n"), 0o600)
	if err == nil {
		err = v.root.Rename(temp, name)
	}
	if err != nil {
		return "", wrap(err, scheme)
	}
	return id(), nil
}

const idLength = 26 // of rand.Text
