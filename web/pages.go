package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed ui/*.html ui/*.css ui/*.js
var files embed.FS

// pages are the files of the viewer. All views are one page, whose script reads the path.
type pages struct{ files map[string]page }

// A page is a file as it is sent.
type page struct {
	media, tag  string
	raw, packed []byte
}

func newPages() *pages {
	p := &pages{files: make(map[string]page)}
	names, _ := fs.Glob(files, "ui/*") // the pattern is valid
	for _, name := range names {
		raw, _ := files.ReadFile(name) // it is embedded
		sum := sha256.Sum256(raw)
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a valid level
		_, _ = z.Write(raw)                                   // to memory
		_ = z.Close()
		media := mime.TypeByExtension(path.Ext(name))
		if path.Ext(name) == ".js" {
			media = "text/javascript; charset=utf-8" // some systems have another type for it
		}
		p.files[path.Base(name)] = page{media: media, tag: `"` + hex.EncodeToString(sum[:8]) + `"`, raw: raw, packed: b.Bytes()}
	}
	return p
}

// ServeHTTP answers a request for a file or for the page of a view.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	rest := strings.TrimPrefix(r.URL.Path, strings.TrimSuffix(PagesPrefix, "/"))
	name, asset := strings.CutPrefix(rest, "/assets/")
	if !asset {
		switch {
		case rest == "/" || rest == "/signin" || strings.HasPrefix(rest, "/s/"):
			name = "index.html"
		case rest == "/share" || strings.HasPrefix(rest, "/share/"):
			name = "shared.html"
		default:
			http.NotFound(w, r)
			return
		}
	}
	f, ok := p.files[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", f.media)
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", f.tag)
	header.Set("Vary", "Accept-Encoding")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.raw
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	_, _ = w.Write(body) // the client may have closed the connection
}
