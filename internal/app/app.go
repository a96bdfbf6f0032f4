// Package app is the composition root of the program: it creates the store, the
// engine, the dialects and the server from a configuration.
package app

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/internal/audit"
	"github.com/sequent-dev/sequent/internal/telemetry"
	"github.com/sequent-dev/sequent/llm/openai"
	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
	"github.com/sequent-dev/sequent/vault/vaults"
	"github.com/sequent-dev/sequent/web"
)

// A Config configures the program. The zero value is useful.
type Config struct {
	Store   string // memory, a path, sqlite:PATH or postgres://…; empty means sequent.db in DataDir
	Sync    sqlite.Sync
	Dialect string // name of the served dialect; empty means the first of Names

	// Tools are the names of the tools of the served dialect that are offered; empty means
	// all. Other dialects of an HTTP server offer all of theirs.
	Tools []string

	Dialects []dialect.Builder // dialects beside those of this module

	// SessionTTL is the lifetime of a session after its last change by this process;
	// 0 means no limit. Nil means the dialect's default: 30 minutes for history, no
	// limit for the others.
	SessionTTL *time.Duration

	// Retain is the lifetime of every session in the store after its last change; 0
	// means no limit. Only servers delete sessions.
	Retain time.Duration

	Quota      sequent.Quota // of each owner
	QuotaNotes int           // maximum notes of an owner's vault; 0 means no limit

	HistoryWindow int                // maximum thoughts in a reply of history; 0 means all
	StoragePath   string             // folder of classic's session files; empty means Documents/thinking in the home directory
	SignKey       ed25519.PrivateKey // signs classic's session files; nil for none
	Vault         string             // folder of wiki's notes; empty means Documents/sequent-vault in the home directory
	Agent         string             // label of the agent on standard input; empty means the client's name
	NoOrigin      bool               // sessions do not record where they come from
	NoEarlier     bool               // standard names no earlier session on the same problem
	Drawing       Drawing            // where classic draws thoughts
	Model         openai.Config      // language models; keys and URLs come from the environment only
	HTTP          HTTPConfig         // for ServeHTTP
	Audit         AuditConfig        // who has read and changed what
	Telemetry     TelemetryConfig    // traces and metrics
	Version       string             // version of the program
	Logger        *slog.Logger       // nil means discard
}

// A Drawing configures the drawing of thoughts while they are recorded.
type Drawing struct {
	Out    io.Writer  // nil means no drawing
	Colour bool       // Out is a terminal that supports colours
	Width  func() int // columns of Out; nil or 0 means unknown
}

// usage returns the error for a setting that cannot be used, with what to do instead.
func usage(msg, fix string) error {
	return &sequent.Error{Code: sequent.CodeUsage, Msg: msg, Fix: fix}
}

// badFlag returns the error for the value of a flag.
func badFlag(flag, value, fix string) error {
	return usage(fmt.Sprintf("invalid value %q for --%s", value, flag), fix)
}

// An App holds the parts of the program. The caller must call Close.
type App struct {
	Engine *sequent.Engine
	Place  Place // place of the store

	config Config
	logger *slog.Logger
	store  sequent.Store
	edge   edge

	audit     *audit.Log           // nil for none
	telemetry *telemetry.Telemetry // nil if nothing is collected
	metrics   string               // listen address of the page for Prometheus; empty for none

	drafts *web.Drafts // thoughts that models are writing; nil unless the viewer is served

	projects projects // that calls have come from

	mu     sync.Mutex     // guards vaults
	vaults *vaults.Vaults // nil before the first call of Vaults
}

// Open opens the store. It creates a missing one.
func Open(ctx context.Context, cfg Config) (*App, error) {
	place, err := Locate(cfg.Store)
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg, place, nil)
}

// OpenExisting opens the store to read sessions. It creates no store: without a
// default store the App is empty, and without a store at another place the error
// matches fs.ErrNotExist.
func OpenExisting(ctx context.Context, cfg Config) (*App, error) {
	place, err := Locate(cfg.Store)
	if err != nil {
		return nil, err
	}
	if place.Memory {
		return nil, usage("sessions in memory exist only in the process that records them", "omit --store, or pass a file or a database")
	}
	var store sequent.Store
	if _, err := os.Stat(place.Path); place.Path != "" && errors.Is(err, fs.ErrNotExist) {
		if !place.Default {
			return nil, noStore(place)
		}
		store = sequent.NewMemoryStore()
	}
	return open(ctx, cfg, place, store)
}

func noStore(p Place) error {
	return &sequent.Error{
		Code: sequent.CodeUnavailable, Msg: "there is no store at " + p.Path,
		Fix: "check the path; sequent serve and sequent demo create a store", Err: fs.ErrNotExist,
	}
}

// Over returns the parts over a store that is open. Close closes it.
func Over(s sequent.Store, cfg Config) *App {
	return &App{Engine: sequent.New(sequent.Config{Store: s}), config: cfg, logger: cfg.Logger, store: s}
}

// open opens the parts, over the store at a place unless there is one.
func open(ctx context.Context, cfg Config, place Place, store sequent.Store) (*App, error) {
	a := &App{Place: place, config: cfg, logger: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), store: store}
	_, err := a.chosen()
	if err == nil {
		err = a.startTelemetry(ctx)
	}
	if err == nil {
		a.edge, err = cfg.HTTP.open(a.logger)
	}
	if err == nil {
		err = a.openAudit()
	}
	if err == nil && store == nil {
		a.store, err = a.openStore(ctx)
		err = place.At(err)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	engine := sequent.Config{Store: a.observedStore(), Quota: cfg.Quota, Lost: func(ctx context.Context, k sequent.Key, numbers string) {
		a.logger.WarnContext(ctx, "the store was put back to an earlier state: acknowledged thoughts are gone", "owner", k.Owner, "session", k.ID, "thoughts", numbers)
	}}
	if cfg.SessionTTL != nil {
		engine.TTL = *cfg.SessionTTL
	}
	if a.audit != nil {
		engine.Used = audit.Used
	}
	a.Engine = sequent.New(engine)
	sources := telemetry.Sources{Engine: a.Engine.Stats}
	if s, ok := a.store.(interface{ Size() int64 }); ok {
		sources.StoreSize = s.Size
	}
	a.telemetry.Watch(sources)
	return a, nil
}

func (a *App) openStore(ctx context.Context) (sequent.Store, error) {
	address, isDatabase := a.Place.Database()
	switch {
	case a.Place.Memory:
		return sequent.NewMemoryStore(), nil
	case isDatabase:
		return opened(postgres.Open(ctx, postgres.Config{URL: address, Logger: a.logger}))
	}
	return opened(sqlite.Open(ctx, sqlite.Config{Path: a.Place.Path, Sync: a.config.Sync, Logger: a.logger}))
}

// opened converts a store to the interface, without a non-nil interface for a nil
// pointer.
func opened[S sequent.Store](s S, err error) (sequent.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the vaults, the store, the audit log and telemetry.
func (a *App) Close() error {
	var err error
	a.mu.Lock()
	if a.vaults != nil {
		err = a.vaults.Close()
	}
	a.mu.Unlock()
	if a.store != nil { // or it could not be opened
		err = errors.Join(err, a.store.Close())
	}
	if a.audit != nil {
		err = errors.Join(err, a.audit.Close())
	}
	return errors.Join(err, a.telemetry.Close())
}
