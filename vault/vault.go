package vault

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/sequent-dev/sequent"
)

// A Config configures a [Vault].
type Config struct {
	Dir string // the folder; required
	// Create makes the folder if there is none, readable for its owner alone.
	Create bool
	// MaxBytes bounds what is read and written of one note; 0 means 16 MiB.
	MaxBytes int64
	// LockTimeout limits how long a call waits for another process that writes to
	// the same note; 0 means 10 seconds.
	LockTimeout time.Duration
	// Wrote is called after each attempt to write or delete a note, unless it is
	// nil. It is called by several goroutines at once and must not block.
	Wrote func(URI)
}

// A Vault is a folder of notes. It is safe for concurrent use, by several
// processes as well.
type Vault struct {
	root        *os.Root
	dir         string
	maxBytes    int64
	lockTimeout time.Duration
	wrote       func(URI)
	locks       locks
}

// stateDir is where this package keeps what it needs for itself.
const stateDir = ".sequent"

// Open opens the vault in a folder. It writes nothing there; what it needs for
// itself it makes with the first note that it writes.
func Open(cfg Config) (*Vault, error) {
	root, err := openDir(cfg)
	if err != nil {
		return nil, openError(err)
	}
	v := &Vault{
		root: root, dir: cfg.Dir,
		maxBytes:    cmp.Or(cfg.MaxBytes, 16<<20),
		lockTimeout: cmp.Or(cfg.LockTimeout, 10*time.Second),
		wrote:       cfg.Wrote,
	}
	if v.wrote == nil {
		v.wrote = func(URI) {}
	}
	v.locks.init()
	if err := v.checkState(); err != nil {
		_ = root.Close()
		return nil, err
	}
	return v, nil
}

func openDir(cfg Config) (*os.Root, error) {
	if cfg.Dir == "" {
		return nil, errors.New("vault: Config.Dir is empty")
	}
	root, err := os.OpenRoot(cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) && cfg.Create {
		if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
			return nil, err
		}
		root, err = os.OpenRoot(cfg.Dir)
	}
	return root, err
}

func openError(err error) error {
	out := &sequent.Error{Code: CodeUnavailable, Msg: "the vault's folder cannot be opened", Fix: "check its path and permissions", Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		out.Msg, out.Fix = "the vault's folder does not exist", "make it, or name another"
	}
	return out
}

// checkState refuses a vault whose folder for locks would lead elsewhere.
func (v *Vault) checkState() error {
	for _, name := range []string{stateDir, lockDir, tempDir} {
		info, err := v.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.IsDir() {
			err = errors.New(name + " is not a folder")
		}
		if err != nil {
			return &sequent.Error{
				Code: CodeUnavailable,
				Msg:  "the folder " + stateDir + " of the vault cannot be used",
				Fix:  "delete it; it holds nothing that cannot be made again",
				Err:  err,
			}
		}
	}
	return nil
}

// Close releases the folder. Calls under way finish first or fail.
func (v *Vault) Close() error { return v.root.Close() }

// Dir returns the folder as it was named.
func (v *Vault) Dir() string { return v.dir }
