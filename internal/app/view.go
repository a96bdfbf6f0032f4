package app

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/web"
)

// viewIdle is how long the viewer serves after its last request. An open page has a
// request, the stream of its events.
const viewIdle = time.Hour

// A ViewConfig configures the viewer.
type ViewConfig struct {
	Addr  string                       // HOST:PORT on a loopback address; empty means a free port
	Ready func(url string, k *web.Key) // called with the server's URL, such as http://127.0.0.1:4711, when it listens
}

// View serves the viewer on this machine to those who have its key, until ctx is done or
// for an hour after the last request.
func (a *App) View(ctx context.Context, cfg ViewConfig) error {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	listener, err := listen(ctx, cfg.Addr)
	if err != nil {
		return err
	}
	gate, err := admission.New(admission.Config{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	key := web.NewKey()
	idle := &idleTimer{after: viewIdle, end: cancel}
	idle.start()
	handler := web.New(web.Config{
		Engine: a.Engine, Gate: gate, Limiter: limits.New(limits.Config{Logger: a.logger}),
		Key: key, Version: a.config.Version, Logger: a.logger, Ending: ctx,
	})
	server := &http.Server{
		Handler: idle.wrap(handler), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	cfg.Ready("http://"+listener.Addr().String(), key)
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	if server.Shutdown(ending) != nil {
		_ = server.Close() // a client that does not read its reply
	}
	<-served
	return nil
}

// An idleTimer calls end when there has been no request for a while.
type idleTimer struct {
	after time.Duration
	end   func()

	mu     sync.Mutex
	active int
	timer  *time.Timer
}

func (i *idleTimer) start() { i.timer = time.AfterFunc(i.after, i.end) }

// wrap counts the requests of a handler.
func (i *idleTimer) wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.add(1)
		defer i.add(-1)
		h.ServeHTTP(w, r)
	})
}

func (i *idleTimer) add(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.active += n; i.active > 0 {
		i.timer.Stop()
	} else {
		i.timer.Reset(i.after)
	}
}
