package app

import (
	"context"
	"net/http"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/admission"
	"github.com/sequent-dev/sequent/internal/telemetry"
	"github.com/sequent-dev/sequent/mcpserver"
)

// A TelemetryConfig turns on traces and metrics. The zero value collects none.
type TelemetryConfig struct {
	// Prometheus is the address of the page /metrics: HOST:PORT, or a port on 127.0.0.1.
	// Only this machine can reach it. Empty means no page.
	Prometheus string
	// Getenv returns variables OTEL_…, one of which names a collector; nil means none.
	Getenv func(string) string
}

// startTelemetry starts what the configuration turns on.
func (a *App) startTelemetry(ctx context.Context) (err error) {
	cfg := a.config.Telemetry
	if cfg.Prometheus != "" {
		if a.metrics, err = listenAddress("metrics", cfg.Prometheus, "9464"); err != nil {
			return err
		}
		if mcpserver.CheckAddress(a.metrics) != nil {
			return usage("--metrics "+cfg.Prometheus+" accepts connections from other machines, and the page has no authentication",
				"use 127.0.0.1 and let Prometheus or its agent run on this machine, or send metrics to a collector with OTEL_EXPORTER_OTLP_ENDPOINT")
		}
	}
	a.telemetry, err = telemetry.Start(ctx, telemetry.Config{
		Getenv: cfg.Getenv, Prometheus: a.metrics != "", Version: a.config.Version, Logger: a.logger,
	})
	if err != nil {
		return usage("telemetry cannot be started: "+err.Error(), "check the variables OTEL_…")
	}
	return nil
}

// observedStore returns the store of the engine: that of the App, measured unless it is
// memory of this process.
func (a *App) observedStore() sequent.Store {
	switch _, isDatabase := a.Place.Database(); {
	case a.Place.Memory:
		return a.store
	case isDatabase:
		return a.telemetry.Store(a.store, "postgresql")
	}
	return a.telemetry.Store(a.store, "sqlite")
}

// servePrometheus serves the page for Prometheus, if there is one, until stop is called.
func (a *App) servePrometheus(ctx context.Context) (stop func(), err error) {
	if a.metrics == "" {
		return func() {}, nil
	}
	page := a.telemetry.Handler()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !new(admission.Gate).OwnName(r) { // a page of another site has made its name point here
			http.Error(w, "this address answers to local names only", http.StatusForbidden)
			return
		}
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(30 * time.Second))
		page.ServeHTTP(w, r)
	})
	base, stop, err := a.serveHere(ctx, a.metrics, mux)
	if err == nil {
		a.logger.InfoContext(ctx, "serving metrics for Prometheus", "url", base+"/metrics")
	}
	return stop, err
}
