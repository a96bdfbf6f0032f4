package mcpserver

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/mcpserver/internal/mcptest"
)

// BenchmarkHTTP makes calls with 200 bytes from 16 clients at once, and for
// comparison has a bare handler echo them.
func BenchmarkHTTP(b *testing.B) {
	text := strings.Repeat("t", 200)
	w := serveHTTP(b, HTTPConfig{Rate: -1})
	echo := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = echo.Serve(l) }()
	defer echo.Close()
	session := w.handshake("/mcp")
	older := "POST /mcp\nMcp-Session-Id: " + session + "\n\n" + mcptest.Call(1, "args", text)
	for _, bb := range []struct{ name, addr, request string }{
		{"echo", l.Addr().String(), older},
		{"older", w.addr, older},
		{"modern", w.addr, modernCall("/mcp", "args", text)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
			head, body, _ := strings.Cut(bb.request, "\n\n")
			template := (&site{t: b, addr: bb.addr}).request(head + "\n\n")
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r := template.Clone(b.Context())
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
					res, err := client.Do(r)
					if err != nil {
						b.Error(err)
						return
					}
					if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
						b.Error(res.Status, err)
					}
					res.Body.Close()
				}
			})
		})
	}
}
