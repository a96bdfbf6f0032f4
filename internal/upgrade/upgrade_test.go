package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const text = "the program"

// release writes a release for two systems.
func release(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var tarGz, zipped bytes.Buffer
	z := gzip.NewWriter(&tarGz)
	w := tar.NewWriter(z)
	for _, name := range []string{"sequent_0.2.0_linux_arm64/README.md", "sequent_0.2.0_linux_arm64/sequent"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	zw := zip.NewWriter(&zipped)
	f, err := zw.Create("sequent_0.2.0_windows_amd64/sequent.exe")
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err == nil {
		err = zw.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	var sums strings.Builder
	for name, content := range map[string][]byte{"sequent_0.2.0_linux_arm64.tar.gz": tarGz.Bytes(), "sequent_0.2.0_windows_amd64.zip": zipped.Bytes()} {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, sumsName), []byte(sums.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestProgram(t *testing.T) {
	dir := release(t)
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	for _, from := range []string{dir, s.URL, s.URL + "/", filepath.Join(dir, "sequent_0.2.0_linux_arm64.tar.gz")} {
		for _, goos := range []string{"linux", "windows"} {
			goarch := map[string]string{"linux": "arm64", "windows": "amd64"}[goos]
			r, err := Find(t.Context(), from, goos, goarch)
			if strings.HasSuffix(from, ".gz") && goos == "windows" {
				if err == nil || !strings.Contains(err.Error(), "the archive for this system is sequent_0.2.0_windows_amd64.zip") {
					t.Errorf("the archive of another system: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Version != "v0.2.0" {
				t.Errorf("the version is %s, want v0.2.0", r.Version)
			}
			if got, err := r.Program(t.Context()); err != nil || string(got) != text {
				t.Errorf("from %s for %s: %q, %v", from, goos, got, err)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	dir := release(t)
	const name = "sequent_0.2.0_linux_arm64.tar.gz"
	if _, err := Find(t.Context(), dir, "plan9", "amd64"); err == nil || !strings.Contains(err.Error(), "no archive for plan9/amd64") {
		t.Errorf("another system: %v", err)
	}
	if _, err := Find(t.Context(), filepath.Join(dir, "absent"), "linux", "arm64"); err == nil {
		t.Error("an absent folder is no error")
	}
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	if _, err := Find(t.Context(), s.URL, "linux", "arm64"); err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("an absent address: %v", err)
	}
	r, err := Find(t.Context(), dir, "linux", "arm64")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Program(t.Context()); err == nil || !strings.Contains(err.Error(), "has the checksum") {
		t.Errorf("another archive: %v", err)
	}
}
