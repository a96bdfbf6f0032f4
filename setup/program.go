package setup

import (
	"bytes"
	"crypto/rand"
	"errors"
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

// Link makes a symbolic link to a program, unless the name is taken. It reports whether the
// link is there.
func Link(program, link string) (bool, error) {
	if target, err := os.Readlink(link); err == nil {
		return target == program, nil
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return false, err
	}
	err := os.Symlink(program, link)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// Unlink removes a link that [Link] has made to a program. It reports whether there was one.
func Unlink(program, link string) (bool, error) {
	if target, err := os.Readlink(link); err != nil || target != program {
		return false, nil
	}
	return true, os.Remove(link)
}

// Install copies a program to a file, unless the file has the same content. Servers that run
// from the file go on.
func Install(exe, file string) error {
	program, err := os.ReadFile(exe)
	if err != nil {
		return err
	}
	if is, err := os.ReadFile(file); err == nil && bytes.Equal(is, program) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer root.Close()
	base := filepath.Base(file)
	durable.RemoveAbandoned(root, ".", func(name string) bool { return strings.HasPrefix(name, "."+base+".") })
	err = durable.WriteFile(root, base, 0o755, content(program))
	if err != nil && runtime.GOOS == "windows" {
		// Windows does not replace a program that runs, but renames it.
		if err = root.Rename(base, "."+base+"."+rand.Text()+".old"); err == nil {
			err = durable.WriteFile(root, base, 0o755, content(program))
		}
	}
	return err
}
