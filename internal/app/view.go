package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/limits"
	"github.com/sequent-dev/sequent/web"
)

// A ViewConfig configures the viewer.
type ViewConfig struct {
	Addr     string                       // HOST:PORT on a loopback address; empty means a free port
	Ready    func(url string, k *web.Key) // called with the server's URL, such as http://127.0.0.1:4711, when it listens
	Commands []string                     // as in [web.Config]
}

// View serves the viewer on this machine to those who have its key, until ctx is done.
func (a *App) View(ctx context.Context, cfg ViewConfig) error {
	key := web.NewKey()
	base, stop, err := a.serveHere(ctx, cmp.Or(cfg.Addr, "127.0.0.1:0"), web.New(web.Config{
		Engine: a.Engine, Gate: new(admission.Gate), Limiter: limits.New(limits.Config{Logger: a.logger}),
		Key: key, Version: a.config.Version, Logger: a.logger, Ending: ctx, Commands: cfg.Commands,
	}))
	if err != nil {
		return err
	}
	defer stop()
	cfg.Ready(base, key)
	<-ctx.Done()
	return nil
}

// serveHere serves requests on an address of this machine until stop is called, which gives those that
// have begun two seconds. It returns the URL of the server.
func (a *App) serveHere(ctx context.Context, addr string, handler http.Handler) (base string, stop func(), err error) {
	listener, err := listen(ctx, addr)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.logger.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			a.logger.Error("cannot serve any longer", "address", addr, "error", err)
		}
	}()
	return "http://" + listener.Addr().String(), func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close() // a client that does not read its reply
		}
	}, nil
}

// listen listens on an address.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "cannot listen on " + addr,
			Fix:  "stop the program that uses the address, or choose another port; 127.0.0.1:0 chooses a free one",
			Err:  err,
		}
	}
	return listener, nil
}
