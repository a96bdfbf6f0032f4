package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A packed file is one of an archive.
type packed struct {
	name    string
	mode    int64
	content []byte
}

// buildArchives builds the command for each system from the module in the proxy,
// and packs it. Archives of one commit are the same bytes each time.
func (r *release) buildArchives(ctx context.Context) error {
	env, err := r.environment(ctx)
	if err != nil {
		return err
	}
	var texts []packed
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(r.clone, name))
		if err != nil {
			return err
		}
		texts = append(texts, packed{name, 0o644, content})
	}
	var sums strings.Builder
	for _, system := range r.systems {
		goos, goarch, _ := strings.Cut(system, "/")
		program, err := r.install(ctx, append(env, "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch))
		if err != nil {
			return err
		}
		content, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		name := path.Base(r.command) + "_" + strings.TrimPrefix(r.version, "v") + "_" + goos + "_" + goarch
		files := append([]packed{{filepath.Base(program), 0o755, content}}, texts...)
		var archive []byte
		if goos == "windows" {
			name += ".zip"
			archive, err = packZip(files, r.commit.time)
		} else {
			archive, err = packTar(files, r.commit.time, strings.TrimSuffix(name, ".tar.gz"))
			name += ".tar.gz"
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.out, name), archive, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive), name)
		fmt.Fprintf(r.log, "%s, %d KiB\n", name, len(archive)>>10)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// install runs go install of the command's version in a new GOPATH and returns
// the program's file.
func (r *release) install(ctx context.Context, env []string) (string, error) {
	gopath, err := os.MkdirTemp(r.work, "install")
	if err != nil {
		return "", err
	}
	env = append(env, "GOPATH="+gopath)
	if _, err := output(ctx, r.work, env, "go", "install", "-trimpath", "-ldflags=-s -w", r.command+"@"+r.version); err != nil {
		return "", err
	}
	// For another system than this one the program is in a directory of its name.
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		found, err := filepath.Glob(filepath.Join(gopath, "bin", pattern))
		if err != nil {
			return "", err
		}
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
				return f, nil
			}
		}
	}
	return "", fmt.Errorf("go install %s@%s made no program", r.command, r.version)
}

func packTar(files []packed, when time.Time, dir string) ([]byte, error) {
	var b bytes.Buffer
	compress := gzip.NewWriter(&b)
	w := tar.NewWriter(compress)
	for _, f := range files {
		h := &tar.Header{Name: dir + "/" + f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: when}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := compress.Close()
	return b.Bytes(), err
}

func packZip(files []packed, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when.UTC()}
		h.SetMode(os.FileMode(f.mode))
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
