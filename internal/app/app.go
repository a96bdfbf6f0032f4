// Package app joins the parts of the program: configuration in, an engine over
// a store, dialects over the engine and a server over a dialect out.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/app/vaults"
	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A Config is what the program can be told. Every field's zero value is useful.
type Config struct {
	Store   string // memory, a path, sqlite:PATH, postgres://…; empty means DefaultStore
	Sync    string // full or normal; empty means full
	Dialect string // what is served; empty means the first of Dialects

	// SessionTTL is how long a session is kept after its last change, 0 for ever.
	// Nil means that dialects have it their way: for ever, but for history's
	// sessions, which are kept for half an hour.
	SessionTTL *time.Duration

	// Retain is how long a server keeps any session after its last change, also
	// those that were recorded before and by others; 0 means for ever.
	Retain time.Duration

	HistoryWindow int          // how many thoughts a reply of history holds; 0 means all
	StoragePath   string       // where classic writes session files; empty means Documents/thinking in the home directory
	Vault         string       // the folder of wiki's notes; empty means Documents/sequent-vault in the home directory
	Agent         string       // who thinks, in wiki's notes; empty means "agent"
	Drawing       Drawing      // how classic draws thoughts for people
	Model         ModelConfig  // how language models are asked, where a dialect does
	HTTP          HTTPConfig   // for ServeHTTP
	Version       string       // of the program
	Logger        *slog.Logger // nil means discard
}

// A Drawing says where thoughts are drawn while they are recorded.
type Drawing struct {
	Out    io.Writer  // nil means nowhere
	Colour bool       // Out is a terminal that shows colours
	Width  func() int // columns of Out; nil or 0 means that they are not known
}

// A ConfigError is a setting that cannot be used.
type ConfigError struct {
	Msg string // what is wrong, in one sentence
	Fix string // what to do instead
}

// Error returns the message and what to do instead.
func (e *ConfigError) Error() string {
	if e.Fix == "" {
		return e.Msg
	}
	return e.Msg + ": " + e.Fix
}

// An App is the program's parts, joined. Close it.
type App struct {
	Engine *sequent.Engine
	Place  Place // where the store is

	config Config
	logger *slog.Logger
	store  sequent.Store

	mu     sync.Mutex     // guards vaults
	vaults *vaults.Vaults // nil until somebody asks for them
}

// Open opens the store, and makes it if there is none.
func Open(ctx context.Context, cfg Config) (*App, error) {
	place, err := Locate(cfg.Store)
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg, place)
}

// OpenExisting opens the store for somebody who wants to see what is in it. It
// makes none: if there is none at the default place, the App is empty, and if
// there is none at another, that is an error matching fs.ErrNotExist.
func OpenExisting(ctx context.Context, cfg Config) (*App, error) {
	place, err := Locate(cfg.Store)
	if err != nil {
		return nil, err
	}
	if place.Memory {
		return nil, &ConfigError{
			Msg: "sessions in memory are gone with the process that has them, so there is nothing to see",
			Fix: "leave --store out, or name a file",
		}
	}
	if _, ok := place.Database(); ok {
		return open(ctx, cfg, place)
	}
	_, err = os.Stat(place.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && place.Default:
		return &App{Engine: sequent.New(sequent.Config{}), Place: place, config: cfg, logger: cfg.Logger}, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &sequent.Error{
			Code: sequent.CodeUnavailable,
			Msg:  "there is no store at " + place.Path,
			Fix:  "check the path; sequent serve and sequent demo make a store where there is none",
			Err:  fs.ErrNotExist,
		}
	}
	return open(ctx, cfg, place)
}

func open(ctx context.Context, cfg Config, place Place) (*App, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	var ttl time.Duration
	if cfg.SessionTTL != nil {
		ttl = *cfg.SessionTTL
	}
	if ttl < 0 {
		return nil, &ConfigError{
			Msg: fmt.Sprintf("a session cannot be kept for %v", ttl),
			Fix: "use a duration such as 720h, or 0 for ever",
		}
	}
	if cfg.Retain < 0 {
		return nil, &ConfigError{
			Msg: fmt.Sprintf("sessions cannot be kept for %v", cfg.Retain),
			Fix: "use a duration such as 90d or 2160h for --retain, or 0 for ever",
		}
	}
	if cfg.HistoryWindow < 0 {
		return nil, &ConfigError{
			Msg: fmt.Sprintf("a reply cannot hold %d thoughts", cfg.HistoryWindow),
			Fix: "use a number such as 20 for --history-window, or 0 for all",
		}
	}
	if _, err := cfg.offer(); err != nil {
		return nil, err
	}
	durability, err := parseSync(cfg.Sync)
	if err != nil {
		return nil, err
	}
	if err := cfg.HTTP.check(); err != nil {
		return nil, err
	}
	a := &App{Place: place, config: cfg, logger: cfg.Logger}
	if a.store, err = openStore(ctx, cfg, place, durability); err != nil {
		return nil, at(place, err)
	}
	a.Engine = sequent.New(sequent.Config{Store: a.store, TTL: ttl})
	return a, nil
}

func openStore(ctx context.Context, cfg Config, place Place, durability sqlite.Sync) (sequent.Store, error) {
	address, isDatabase := place.Database()
	switch {
	case place.Memory:
		return sequent.NewMemoryStore(), nil
	case isDatabase:
		return opened(postgres.Open(ctx, postgres.Config{URL: address, Logger: cfg.Logger}))
	}
	return opened(sqlite.Open(ctx, sqlite.Config{Path: place.Path, Sync: durability, Logger: cfg.Logger}))
}

// opened makes a store of some kind one of any kind, and none of none.
func opened[S sequent.Store](s S, err error) (sequent.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// at adds to what is wrong with a store where it is.
func at(place Place, err error) error {
	e, ok := errors.AsType[*sequent.Error](err)
	name := place.Path
	if _, isDatabase := place.Database(); isDatabase {
		name = place.String()
	}
	if !ok || strings.Contains(e.Msg, name) {
		return err
	}
	where := *e
	where.Msg = name + ": " + e.Msg
	return &where
}

func parseSync(s string) (sqlite.Sync, error) {
	switch s {
	case "", "full":
		return sqlite.Full, nil
	case "normal":
		return sqlite.Normal, nil
	}
	return 0, &ConfigError{Msg: fmt.Sprintf("--sync cannot be %q", s), Fix: "use full or normal"}
}

// Close ends what runs in the background and closes the store.
func (a *App) Close() error {
	var err error
	a.mu.Lock()
	if a.vaults != nil {
		err = a.vaults.Close()
	}
	a.mu.Unlock()
	if a.store != nil {
		err = errors.Join(err, a.store.Close())
	}
	return err
}
