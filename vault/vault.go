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
	// Create creates a missing folder, accessible only to its owner.
	Create bool
	// MaxBytes limits the size of a note; 0 means 16 MiB.
	MaxBytes int64
	// MaxNotes limits the number of notes; 0 means no limit. Further ones are refused
	// with [sequent.CodeQuotaExceeded].
	MaxNotes int
	// LockTimeout limits how long a call waits for another process that writes to
	// the same note; 0 means 10 seconds.
	LockTimeout time.Duration
	// Wrote is called after each attempt to write or delete a note, unless it is
	// nil. It is called by several goroutines at once and must not block.
	Wrote func(URI)
}

// A Vault is a folder of notes. It is safe for concurrent use, also by several
// processes.
type Vault struct {
	root        *os.Root
	dir         string
	maxBytes    int64
	lockTimeout time.Duration
	wrote       func(URI)
	locks       locks
	tally       tally
}

// stateDir holds the files that are not notes.
const stateDir = ".sequent"

// Open opens the vault in a folder. It writes nothing: the first write creates the
// folder .sequent.
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
		tally:       tally{most: cfg.MaxNotes},
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
		out.Msg, out.Fix = "the vault's folder does not exist", "create it, or name another"
	}
	return out
}

// checkState refuses a vault whose folder .sequent is a link or a file.
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
				Msg:  "the folder " + stateDir + " of the vault is not a folder, or cannot be read",
				Fix:  "delete it; everything in it can be created again",
				Err:  err,
			}
		}
	}
	return nil
}

// Close releases the folder. Calls in progress finish or fail.
func (v *Vault) Close() error { return v.root.Close() }

// Dir returns Config.Dir.
func (v *Vault) Dir() string { return v.dir }
