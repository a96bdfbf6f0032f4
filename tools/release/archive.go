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
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A program is the command, built for a system.
type program struct {
	goos, goarch string
	content      []byte
	path         string
}

// file returns the name of the program's file.
func (p program) file(name string) string {
	if p.goos == "windows" {
		return name + ".exe"
	}
	return name
}

// buildPrograms builds the command for each system.
func (r *release) buildPrograms(ctx context.Context) error {
	dir := filepath.Join(r.work, "programs")
	for _, system := range r.systems {
		goos, goarch, _ := strings.Cut(system, "/")
		p := program{goos: goos, goarch: goarch, path: filepath.Join(dir, goos+"_"+goarch)}
		env := []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + goarch}
		args := []string{"build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", p.path, "./cmd/" + r.name()}
		if _, err := output(ctx, r.clone, env, "go", args...); err != nil {
			return err
		}
		var err error
		if p.content, err = os.ReadFile(p.path); err != nil {
			return err
		}
		r.programs = append(r.programs, p)
		fmt.Fprintf(r.log, "%s, %d KiB\n", system, len(p.content)>>10)
	}
	return nil
}

// base returns the name of the archive for a system, without its extension.
func (r *release) base(p program) string {
	return r.name() + "_" + r.number() + "_" + p.goos + "_" + p.goarch
}

// archive returns the file name of the archive for a system.
func (r *release) archive(p program) string {
	if p.goos == "windows" {
		return r.base(p) + ".zip"
	}
	return r.base(p) + ".tar.gz"
}

// writeArchives packs each program with what a person wants to read.
func (r *release) writeArchives(context.Context) error {
	var texts []packed
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(r.clone, name))
		if err != nil {
			return err
		}
		texts = append(texts, packed{name, 0o644, content})
	}
	for _, p := range r.programs {
		files := append(slices.Clone(texts), packed{p.file(r.name()), 0o755, p.content})
		for i := range files {
			files[i].name = r.base(p) + "/" + files[i].name
		}
		pack := tarGz
		if p.goos == "windows" {
			pack = zipped
		}
		content, err := pack(files, r.commit.time)
		if err != nil {
			return err
		}
		if err := r.write(r.archive(p), content); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the release.
func (r *release) write(name string, content []byte) error {
	file := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	fmt.Fprintf(r.log, "%s, %d KiB\n", name, (len(content)+1023)>>10)
	return os.WriteFile(file, content, 0o644)
}

// writeSums writes the checksums of all files that are published as they are.
func (r *release) writeSums(context.Context) error {
	var sums strings.Builder
	for _, pattern := range []string{"*", "npm/*"} {
		files, err := filepath.Glob(filepath.Join(r.out, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, file := range files {
			name := filepath.Base(file)
			if info, err := os.Stat(file); err != nil || info.IsDir() || name == "release.patch" || name == "CHANGES.md" {
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
		}
	}
	return r.write("SHA256SUMS", []byte(sums.String()))
}

// A packed file is one in an archive. A name that ends in a slash is a directory.
type packed struct {
	name    string
	mode    int64
	content []byte
}

// tarGz returns a compressed tar archive. Its bytes depend on the arguments alone.
func tarGz(files []packed, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	err := writeTar(tar.NewWriter(z), files, when)
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}

func writeTar(t *tar.Writer, files []packed, when time.Time) error {
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: when.UTC(), Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return t.Close()
}

// zipped returns a zip archive. Its bytes depend on the arguments alone.
func zipped(files []packed, when time.Time) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when.UTC()}
		h.SetMode(os.FileMode(f.mode))
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}
