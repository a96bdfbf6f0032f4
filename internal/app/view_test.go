package app

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/web"
)

// A cancelled context, which Ctrl-C makes, ends the viewer at once.
func TestViewEnds(t *testing.T) {
	t.Parallel()
	a, err := Open(t.Context(), Config{Store: t.TempDir() + "/s.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready, done := make(chan string, 1), make(chan error, 1)
	go func() { done <- a.View(ctx, ViewConfig{Ready: func(url string, _ *web.Key) { ready <- url }}) }()
	res, err := http.Get(<-ready + "/ui/")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the viewer does not end")
	}
}
