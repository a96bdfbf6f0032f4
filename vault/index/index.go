package index

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/internal/indexfile"
	"github.com/sequent-dev/sequent/vault"
)

// An Embedder gives texts vectors, so that what means the same lies close
// together. It returns one vector for each text, all of one size.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// A Config configures an [Index].
type Config struct {
	Vault *vault.Vault // required
	// Dir is the folder for the index; empty means .sequent in the vault.
	Dir string
	// Embedder is for searches by meaning; nil means there are none.
	Embedder Embedder
	// Model names what the Embedder uses. Vectors are kept by this name; it is
	// required with an Embedder.
	Model string
	// EmbedPatience is how long a hybrid search waits for the Embedder before it
	// goes on without; 0 means ten seconds.
	EmbedPatience time.Duration
	// Debounce is how long Watch waits for more changes after one; 0 means
	// 200 milliseconds.
	Debounce time.Duration
	// Rescan is how often Watch looks at all notes, for changes of which the
	// system has not told; 0 means a minute.
	Rescan time.Duration
	// Patience is how long to wait for another process that writes the index;
	// 0 means five minutes, which is more than reading a large vault takes.
	Patience time.Duration
	// Log gets what does not reach a caller; nil means nothing is logged.
	Log *slog.Logger
}

// An Index finds notes. It is safe for concurrent use, by several processes as
// well.
type Index struct {
	vault         *vault.Vault
	path          string // empty until it is needed, if it is in the vault
	embedder      Embedder
	model         string
	embedPatience time.Duration
	debounce      time.Duration
	rescan        time.Duration
	patience      time.Duration
	log           *slog.Logger

	turn chan struct{} // held while this process writes; holds at most one

	ended  sync.WaitGroup
	mu     sync.Mutex // guards the fields below
	file   *file      // nil until it is needed, and after it was given up
	closed bool

	asked queryCache
}

// New returns the index of a vault. It reads and writes nothing yet.
func New(cfg Config) *Index {
	if cfg.Vault == nil {
		panic("index: Config.Vault is nil")
	}
	if cfg.Embedder != nil && cfg.Model == "" {
		panic("index: Config.Embedder without Config.Model")
	}
	x := &Index{
		vault:         cfg.Vault,
		embedder:      cfg.Embedder,
		model:         cfg.Model,
		embedPatience: cmp.Or(cfg.EmbedPatience, 10*time.Second),
		debounce:      cmp.Or(cfg.Debounce, 200*time.Millisecond),
		rescan:        cmp.Or(cfg.Rescan, time.Minute),
		patience:      cmp.Or(cfg.Patience, 5*time.Minute),
		log:           cfg.Log,
		turn:          make(chan struct{}, 1),
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

// Close releases the index. Calls under way finish first; later ones fail.
func (x *Index) Close() error {
	x.mu.Lock()
	f := x.file
	x.file, x.closed = nil, true
	x.mu.Unlock()
	x.ended.Wait()
	if f == nil {
		return nil
	}
	return f.Close()
}

// lock makes the caller the only one to write, of all processes.
func (x *Index) lock(ctx context.Context) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, x.patience, busy())
	defer cancel()
	select {
	case x.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := x.makeDir(); err != nil {
		<-x.turn
		return nil, err
	}
	f := flock.New(x.path+".lock", flock.SetPermissions(0o600))
	if _, err := f.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		<-x.turn
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return func() {
		_ = f.Unlock() // closes the file, which unlocks in any case
		<-x.turn
	}, nil
}

// makeDir makes the folder of the index if it is the vault's own.
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

// discard throws the file away. The caller holds the lock.
func (x *Index) discard() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if f := x.file; f != nil {
		x.file = nil
		_ = f.Close() // nothing of it is needed
	}
	return indexfile.Remove(x.path)
}
