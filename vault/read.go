package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sequent-dev/sequent"
)

// Read returns a note. The error for a missing note matches ErrNotFound.
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

// ReadFile returns the content of any file of the vault by its slash-separated path.
// The same limits as for notes apply to its name and size.
func (v *Vault) ReadFile(ctx context.Context, p string) ([]byte, error) {
	if err := checkFile(p); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, wrap(err, fileURI(p))
	}
	data, _, err := v.readFile(p)
	return data, wrap(err, fileURI(p))
}

// List returns the sorted names of the files in a folder of the vault, except those
// that begin with a dot. A missing folder has no files.
func (v *Vault) List(ctx context.Context, folder string) ([]string, error) {
	if err := checkFile(folder); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, wrap(err, fileURI(folder))
	}
	if err := v.noLinksOnTheWay(folder + "/x"); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, wrap(err, fileURI(folder))
	}
	entries, err := fs.ReadDir(v.root.FS(), folder)
	if err != nil {
		return nil, wrap(err, fileURI(folder))
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && badName(e.Name()) == "" {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func checkFile(p string) error {
	if len(p) > maxPathBytes {
		return invalidURI(p, fmt.Sprintf("it is longer than %d bytes", maxPathBytes))
	}
	for name := range strings.SplitSeq(p, "/") {
		if why := badName(name); why != "" {
			return invalidURI(p, why)
		}
	}
	return nil
}

func fileURI(p string) URI { return URI(scheme + p) }

func infoOf(p string, info fs.FileInfo) Info {
	return Info{URI: uriOf(p), Size: info.Size(), Modified: info.ModTime()}
}

// read returns the note at a checked path.
func (v *Vault) read(p string) (*Note, error) {
	data, info, err := v.readFile(p)
	if err != nil {
		return nil, err
	}
	n := ParseNote(uriOf(p), data)
	n.Info, n.stat = infoOf(p, info), info
	return n, nil
}

func (v *Vault) readFile(p string) ([]byte, fs.FileInfo, error) {
	for range maxAttempts {
		f, info, err := v.open(p, os.O_RDONLY)
		if err != nil {
			return nil, nil, err
		}
		data, err := io.ReadAll(io.LimitReader(f, v.maxBytes+1))
		after, err2 := f.Stat()
		_ = f.Close()
		if err := errors.Join(err, err2); err != nil {
			return nil, nil, err
		}
		if int64(len(data)) > v.maxBytes {
			return nil, nil, v.tooLarge(uriOf(p))
		}
		if unchanged(info, after) && int64(len(data)) == after.Size() {
			return data, after, nil
		}
	}
	return nil, nil, conflict(uriOf(p))
}

// maxAttempts limits how often an operation is repeated because the note changed.
const maxAttempts = 20

func conflict(uri URI) error {
	return &sequent.Error{
		Code: CodeConflict,
		Msg:  fmt.Sprintf("%s kept changing during the call; nothing was written", uri),
		Fix:  "try again",
	}
}

func (v *Vault) tooLarge(uri URI) error {
	return &sequent.Error{
		Code: CodeTooLarge,
		Msg:  fmt.Sprintf("%s is larger than %d bytes, the limit for a note", uri, v.maxBytes),
		Fix:  "split it into several notes",
	}
}

// unchanged reports whether two states are of one unchanged file.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// lstat returns the state of the regular file at a checked path.
func (v *Vault) lstat(p string) (fs.FileInfo, error) {
	if err := v.noLinksOnTheWay(p); err != nil {
		return nil, err
	}
	info, err := v.root.Lstat(p)
	if err != nil {
		return nil, err
	}
	return info, regular(p, info)
}

// open opens a regular file at a checked path.
func (v *Vault) open(p string, flag int) (*os.File, fs.FileInfo, error) {
	if _, err := v.lstat(p); err != nil {
		return nil, nil, err
	}
	f, err := v.root.OpenFile(p, flag|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(p, info) // it may have been replaced
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func regular(p string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return notANote(uriOf(p), "it is a folder")
	case mode&fs.ModeSymlink != 0:
		return notANote(uriOf(p), "it is a link, and links are not followed")
	default:
		return notANote(uriOf(p), "it is not an ordinary file")
	}
}

// noLinksOnTheWay refuses a path with a symbolic link among its folders. os.Root
// refuses links that lead outside; this also keeps a note from having two names.
func (v *Vault) noLinksOnTheWay(p string) error {
	for i := range len(p) {
		if p[i] != '/' {
			continue
		}
		info, err := v.root.Lstat(p[:i])
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return notANote(uriOf(p), "the folder "+path.Base(p[:i])+" is a link, and links are not followed")
		case !info.IsDir():
			return notANote(uriOf(p), path.Base(p[:i])+" is not a folder")
		}
	}
	return nil
}

// escapes reports whether os.Root has refused a path that leaves its folder.
func escapes(err error) bool {
	return strings.Contains(err.Error(), "escapes from parent")
}
