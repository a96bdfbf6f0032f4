package app

import (
	"context"
	"log/slog"
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

// exporters returns which exporters of OTLP are on. It validates the configuration.
func (c TelemetryConfig) exporters() (traces, metrics bool, err error) {
	if c.Prometheus != "" {
		addr, err := listenAddress("metrics", c.Prometheus, "9464")
		if err != nil {
			return false, false, err
		}
		if mcpserver.CheckAddress(addr) != nil {
			return false, false, usage("--metrics "+c.Prometheus+" accepts connections from other machines, and the page has no authentication",
				"use 127.0.0.1 and let Prometheus or its agent run on this machine, or send metrics to a collector with OTEL_EXPORTER_OTLP_ENDPOINT")
		}
	}
	if c.Getenv == nil {
		return false, false, nil
	}
	traces, metrics, err = telemetry.FromEnvironment(c.Getenv)
	if err != nil {
		return false, false, usage(err.Error(), "")
	}
	return traces, metrics, nil
}

// startTelemetry starts what the configuration turns on. Log lines of requests then name
// their trace.
func (a *App) startTelemetry(ctx context.Context) error {
	traces, metrics, err := a.config.Telemetry.exporters()
	prometheus := a.config.Telemetry.Prometheus != ""
	if err != nil || !traces && !metrics && !prometheus {
		return err
	}
	a.logger = slog.New(telemetry.LogHandler(a.logger.Handler()))
	a.config.Logger = a.logger
	a.telemetry, err = telemetry.Start(ctx, telemetry.Config{
		Traces: traces, Metrics: metrics, Prometheus: prometheus, Version: a.config.Version, Logger: a.logger,
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
	case a.telemetry == nil || a.Place.Memory:
		return a.store
	case isDatabase:
		return a.telemetry.Store(a.store, "postgresql")
	}
	return a.telemetry.Store(a.store, "sqlite")
}

// watch exports the numbers of the engine and its store.
func (a *App) watch() {
	if a.telemetry == nil {
		return
	}
	sources := telemetry.Sources{Engine: a.Engine.Stats}
	if s, ok := a.store.(interface{ Size() int64 }); ok {
		sources.StoreSize = s.Size
	}
	a.telemetry.Watch(sources)
}

// servePrometheus serves the page for Prometheus, if there is one, until stop is called.
func (a *App) servePrometheus(ctx context.Context) (stop func(), err error) {
	if a.config.Telemetry.Prometheus == "" {
		return func() {}, nil
	}
	addr, err := listenAddress("metrics", a.config.Telemetry.Prometheus, "9464")
	if err != nil {
		return nil, err
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
	base, _, stop, err := a.serveHere(ctx, addr, mux)
	if err == nil {
		a.logger.InfoContext(ctx, "serving metrics for Prometheus", "url", base+"/metrics")
	}
	return stop, err
}
