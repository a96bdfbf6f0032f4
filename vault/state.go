package vault

import (
	"cmp"
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path"
)

// State opens the folder .sequent of the vault and creates it if necessary. It is for
// data that can be rebuilt from the notes. The names locks, tmp and id are taken. The
// caller closes the folder.
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

// ReadState returns the content of a file in the folder .sequent/{folder} of the vault.
// The error for a missing file matches ErrNotFound.
func (v *Vault) ReadState(ctx context.Context, folder, name string) ([]byte, error) {
	p := path.Join(stateDir, folder, name)
	if err := ctx.Err(); err != nil {
		return nil, wrap(err, fileURI(p))
	}
	data, _, err := v.readFile(p)
	return data, wrap(err, fileURI(p))
}

// WriteState writes a file in the folder .sequent/{folder} of the vault. It does not
// flush the file, so that a crash may leave anything in it. The name has no slashes.
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

// Writable returns an error if the folder .sequent, and so the vault, is not writable.
func (v *Vault) Writable() error {
	const probeBytes = 16 << 10 // enough to notice a full disk
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
	_, err = f.Write(make([]byte, probeBytes))
	err = cmp.Or(err, f.Close(), v.root.Remove(name))
	return wrap(err, scheme)
}

// ID returns the vault's id of 26 characters, which stays the same when the folder is
// moved. The first call stores the proposed id in the folder .sequent, or a new one if
// the proposed id is empty.
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
		return id, nil // another process created it
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
