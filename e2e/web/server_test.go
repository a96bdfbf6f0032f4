package web

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/internal/app"
)

// serveAll runs a whole server until the test ends and returns its URL, without a path. It has a
// store and a port of its own unless cfg names them.
func serveAll(t *testing.T, cfg app.Config) string {
	t.Helper()
	url, stop := startServer(t, cfg)
	t.Cleanup(stop)
	return url
}

// startServer is serveAll for a server that runs until stop is called.
func startServer(t *testing.T, cfg app.Config) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ready, done := make(chan string, 1), make(chan error, 1)
	cfg.Store = cmp.Or(cfg.Store, filepath.Join(t.TempDir(), "sequent.db"))
	cfg.HTTP.Addr = cmp.Or(cfg.HTTP.Addr, "127.0.0.1:0")
	cfg.HTTP.Ready = func(url string) { ready <- url }
	go func() {
		a, err := app.Open(ctx, cfg)
		if err == nil {
			err = a.ServeHTTP(ctx)
			_ = a.Close() // the test may have the file of the store open
		}
		done <- err
	}()
	select {
	case url := <-ready:
		return strings.TrimSuffix(url, "/mcp"), func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	case err := <-done:
		cancel()
		t.Fatal(err)
	case <-time.After(time.Minute):
		cancel()
		t.Fatal("the server does not start")
	}
	return "", nil
}
