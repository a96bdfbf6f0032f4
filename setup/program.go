package setup

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent/internal/durable"
)

// Temporary reports whether a program is in a place where another program deletes or
// replaces it: a directory of go run, a cache or a project of npm, a directory for temporary
// files, or a disk image of macOS. An entry must not name such a program.
func Temporary(exe string, temp ...string) bool {
	for _, dir := range temp {
		if within(exe, dir) {
			return true
		}
	}
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(exe)), "/")
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return strings.HasPrefix(dir, "go-build") || dir == "node_modules" || dir == "_npx" || dir == "AppTranslocation"
	})
}

func within(file, dir string) bool {
	if dir == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && filepath.IsLocal(rel)
}

// ProgramFile returns the place for a copy of the program.
func ProgramFile(data string) string {
	name := "sequent"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(data, "bin", name)
}

// Install copies a program to a file, unless the file has the same content. Servers that run
// from the file go on.
func Install(exe, file string) error {
	if same, err := sameContent(exe, file); err != nil || same {
		return err
	}
	source, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(file)
	isOld := func(name string) bool {
		return strings.HasPrefix(name, "."+base+".")
	}
	durable.RemoveAbandoned(root, ".", isOld)
	suffix := "." + rand.Text()[:10]
	temp := "." + base + suffix + ".tmp"
	err = durable.WriteTemp(root, temp, 0o755, func(w io.Writer) error {
		_, err := io.Copy(w, source)
		return err
	})
	if err != nil {
		return err
	}
	err = root.Rename(temp, base)
	if err != nil && runtime.GOOS == "windows" {
		// Windows does not replace a program that runs, but renames it.
		if err = root.Rename(base, "."+base+suffix+".old"); err == nil {
			err = root.Rename(temp, base)
		}
	}
	if err != nil {
		_ = root.Remove(temp)
		return err
	}
	return durable.SyncDir(root, ".")
}

// sameContent reports whether two files have the same content. A second file that does not
// exist has another one.
func sameContent(a, b string) (bool, error) {
	first, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer first.Close()
	second, err := os.Open(b)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer second.Close()
	one, two := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(first, one)
		m, _ := io.ReadFull(second, two)
		if !bytes.Equal(one[:n], two[:m]) {
			return false, nil
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}
