package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/web"
)

// The viewer ends an hour after the end of the last request, however long requests last, such
// as the events of an open page.
func TestViewIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ended := make(chan time.Duration, 1)
		idle := &idleTimer{after: viewIdle, end: func() { ended <- time.Since(begun) }}
		idle.start()
		h := idle.wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			d, _ := time.ParseDuration(r.URL.Query().Get("for"))
			time.Sleep(d)
		}))
		ask := func(d string) {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?for="+d, nil))
		}
		time.Sleep(59 * time.Minute)
		go ask("5h") // an open page
		time.Sleep(time.Minute)
		ask("1s")
		time.Sleep(2 * time.Hour)
		ask("1s")
		if want, got := 59*time.Minute+5*time.Hour+time.Hour, <-ended; got != want {
			t.Errorf("the viewer ended after %s, want %s", got, want)
		}
	})
}

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
