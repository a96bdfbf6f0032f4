// Package upgrade reads the program out of a release: from the place where releases are
// published, a mirror, a folder or an archive. It checks the archive against the release's
// list of checksums.
package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Releases is where releases are published.
const Releases = "https://github.com/sequent-dev/sequent/releases"

// sumsName is the file of a release with the checksums of the others.
const sumsName = "SHA256SUMS"

// Limits of what is read, in bytes, and of how long a download may take.
const (
	sumsLimit    = 1 << 20
	archiveLimit = 256 << 20
	programLimit = 512 << 20
	downloadTime = 10 * time.Minute
)

// A Release is the archive of a release for one system. It is not read yet.
type Release struct {
	Version string // such as v0.1.0
	Name    string // file name of the archive

	sum     string
	program string // file name in the archive
	read    func(ctx context.Context, name string, limit int64) ([]byte, error)
}

// Find looks for the archive for a system. From is the URL of a folder, a folder, or the file
// of an archive that has SHA256SUMS beside it.
func Find(ctx context.Context, from, goos, goarch string) (*Release, error) {
	r := &Release{program: "sequent"}
	extension := ".tar.gz"
	if goos == "windows" {
		r.program, extension = "sequent.exe", ".zip"
	}
	wanted := regexp.MustCompile(`(?m)^([0-9a-f]{64})  (sequent_(\S+)_` + goos + "_" + goarch + regexp.QuoteMeta(extension) + `)\r?$`)
	file := ""
	if strings.HasPrefix(from, "https://") || strings.HasPrefix(from, "http://") {
		r.read = func(ctx context.Context, name string, limit int64) ([]byte, error) {
			return get(ctx, strings.TrimRight(from, "/")+"/"+name, limit)
		}
	} else {
		dir := from
		if info, err := os.Stat(from); err != nil {
			return nil, err
		} else if !info.IsDir() {
			dir, file = filepath.Split(from)
		}
		r.read = func(_ context.Context, name string, limit int64) ([]byte, error) {
			return readFile(filepath.Join(dir, name), limit)
		}
	}
	sums, err := r.read(ctx, sumsName, sumsLimit)
	if err != nil {
		return nil, fmt.Errorf("read the checksums of the release: %w", err)
	}
	found := wanted.FindSubmatch(sums)
	if found == nil {
		return nil, fmt.Errorf("%s of %s has no archive for %s/%s", sumsName, from, goos, goarch)
	}
	r.sum, r.Name, r.Version = string(found[1]), string(found[2]), "v"+string(found[3])
	if file != "" && file != r.Name {
		return nil, fmt.Errorf("%s beside %s has no checksum of it; the archive for this system is %s", sumsName, file, r.Name)
	}
	return r, nil
}

// Program reads the archive, checks it, and returns the program in it.
func (r *Release) Program(ctx context.Context) ([]byte, error) {
	archive, err := r.read(ctx, r.Name, archiveLimit)
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(archive)); sum != r.sum {
		return nil, fmt.Errorf("%s has the checksum %s, %s says %s", r.Name, sum, sumsName, r.sum)
	}
	if strings.HasSuffix(r.Name, ".zip") {
		return fromZip(archive, r.program)
	}
	return fromTar(archive, r.program)
}

func fromTar(archive []byte, program string) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the archive has no %s", program)
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg && path.Base(h.Name) == program {
			return readAll(t, programLimit)
		}
	}
}

func fromZip(archive []byte, program string) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.Mode().IsRegular() && path.Base(f.Name) == program {
			content, err := f.Open()
			if err != nil {
				return nil, err
			}
			defer content.Close()
			return readAll(content, programLimit)
		}
	}
	return nil, fmt.Errorf("the archive has no %s", program)
}

func get(ctx context.Context, url string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, response.Status)
	}
	return readAll(response.Body, limit)
}

func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, &fs.PathError{Op: "read", Path: name, Err: errors.New("not a regular file")})
	}
	return readAll(f, limit)
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("more than %d MiB", limit>>20)
	}
	return content, err
}
