package index

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/internal/fairlock"
	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/vault"
)

// An Embedder is an embedding model. It returns one vector for each text, all of
// the same size.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// A Config configures an [Index].
type Config struct {
	Vault *vault.Vault // required
	// Dir is the folder of the index; empty means .sequent in the vault.
	Dir string
	// Embedder enables searches by meaning; nil disables them.
	Embedder Embedder
	// Model is the name of the Embedder's model, under which vectors are stored.
	// It is required with an Embedder.
	Model string
	// EmbedTimeout limits how long a hybrid search waits for the Embedder before
	// it continues without meaning; 0 means 10 seconds.
	EmbedTimeout time.Duration
	// Debounce is how long Watch waits for further changes after one; 0 means
	// 200 milliseconds.
	Debounce time.Duration
	// Rescan is the interval at which Watch looks at all notes, because the
	// operating system does not report every change; 0 means a minute.
	Rescan time.Duration
	// LockTimeout limits how long a call waits for another process that writes
	// the index; 0 means 5 minutes, more than reading a large vault takes.
	LockTimeout time.Duration
	// Log receives failures that are not returned; nil discards them.
	Log *slog.Logger
}

// An Index finds notes. It is safe for concurrent use, also by several processes.
type Index struct {
	vault        *vault.Vault
	path         string // of the file
	embedder     Embedder
	model        string
	embedTimeout time.Duration
	debounce     time.Duration
	rescan       time.Duration
	lockTimeout  time.Duration
	log          *slog.Logger
	work         budget // of Context; smaller in tests

	writing chan struct{} // of capacity 1; full while this process writes

	closing sync.WaitGroup // files that were replaced
	mu      sync.Mutex     // guards the fields below
	file    *file          // nil until it is first used, and after it was discarded
	closed  bool

	queries queryCache
}

// New returns the index of a vault. It panics if Config.Vault is nil or an
// Embedder has no Model. It reads and writes no file.
func New(cfg Config) *Index {
	if cfg.Vault == nil {
		panic("index: Config.Vault is nil")
	}
	if cfg.Embedder != nil && cfg.Model == "" {
		panic("index: Config.Embedder without Config.Model")
	}
	x := &Index{
		work:         budget{links: linkBudget, bytes: previewBudget},
		vault:        cfg.Vault,
		embedder:     cfg.Embedder,
		model:        cfg.Model,
		embedTimeout: cmp.Or(cfg.EmbedTimeout, 10*time.Second),
		debounce:     cmp.Or(cfg.Debounce, 200*time.Millisecond),
		rescan:       cmp.Or(cfg.Rescan, time.Minute),
		lockTimeout:  cmp.Or(cfg.LockTimeout, 5*time.Minute),
		log:          cfg.Log,
		writing:      make(chan struct{}, 1),
	}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	dir := cfg.Dir
	if dir == "" {
		dir = filepath.Join(cfg.Vault.Dir(), ".sequent")
	}
	x.path = filepath.Join(dir, "index.db")
	return x
}

// Close waits for the calls in progress and closes the file. Later calls fail.
func (x *Index) Close() error {
	x.mu.Lock()
	f := x.file
	x.file, x.closed = nil, true
	x.mu.Unlock()
	x.closing.Wait()
	if f == nil {
		return nil
	}
	return f.Close()
}

// lock makes the caller the only writer among all processes.
func (x *Index) lock(ctx context.Context) (unlock func(), err error) {
	timeout := time.NewTimer(x.lockTimeout)
	defer timeout.Stop()
	select {
	case x.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timeout.C:
		return nil, busy()
	}
	f := flock.New(x.path+".lock", flock.SetPermissions(0o600))
	if err = x.makeDir(); err == nil {
		var locked bool
		if locked, err = f.TryLock(); err == nil && !locked {
			err = fairlock.Wait(ctx, f, timeout.C)
		}
	}
	if err != nil {
		<-x.writing
		if errors.Is(err, fairlock.ErrTimeout) {
			err = busy()
		}
		return nil, err
	}
	return func() {
		_ = f.Unlock() // it closes the lock file, which releases the lock in any case
		<-x.writing
	}, nil
}

// makeDir creates the folder of the index if it is in the vault.
func (x *Index) makeDir() error {
	if filepath.Dir(x.path) != filepath.Join(x.vault.Dir(), ".sequent") {
		return nil
	}
	root, err := x.vault.State()
	if err != nil {
		return err
	}
	return root.Close()
}

// discard removes the file. The caller holds the lock.
func (x *Index) discard() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f := x.file; f != nil {
		x.file = nil
		_ = f.Close() // its content is not needed
	}
	return indexfile.Remove(x.path)
}
