package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// A Config configures a [Vault].
type Config struct {
	Dir string // the folder; required
	// MaxNotes limits the number of notes; 0 means no limit. Further ones are refused
	// with [sequent.CodeQuotaExceeded].
	MaxNotes int
}

// A Vault is a folder of notes. It is safe for concurrent use, also by several
// processes.
type Vault struct {
	root        *os.Root
	dir         string
	maxNotes    int
	lockTimeout time.Duration // for other writers
	cleaning    sync.Once     // removes what killed processes left in tempDir
}

// stateDir holds the files that are not notes.
const stateDir = ".sequent"

// Open opens the vault in a folder. It creates a missing folder, accessible only to its
// owner, and writes nothing into it: the first write creates the folder .sequent.
func Open(cfg Config) (*Vault, error) {
	root, err := os.OpenRoot(cfg.Dir)
	if errors.Is(err, fs.ErrNotExist) && cfg.Dir != "" {
		if err = os.MkdirAll(cfg.Dir, 0o700); err == nil {
			root, err = os.OpenRoot(cfg.Dir)
		}
	}
	if err != nil {
		return nil, &sequent.Error{Code: CodeUnavailable, Msg: "the vault's folder cannot be opened", Fix: "check its path and permissions", Err: err}
	}
	return &Vault{root: root, dir: cfg.Dir, maxNotes: cfg.MaxNotes, lockTimeout: 10 * time.Second}, nil
}

// Close releases the folder. Calls in progress finish or fail.
func (v *Vault) Close() error { return v.root.Close() }

// Dir returns Config.Dir.
func (v *Vault) Dir() string { return v.dir }

// State opens the folder .sequent of the vault and creates it if necessary. It is for
// data that can be rebuilt from the notes. The names lock and tmp are taken. The
// caller closes the folder.
func (v *Vault) State() (*os.Root, error) {
	if err := v.makeFolder(stateDir); err != nil {
		return nil, wrap(err, scheme)
	}
	root, err := v.root.OpenRoot(stateDir)
	return root, wrap(err, scheme)
}

// Room returns an error with the code [sequent.CodeQuotaExceeded] if the vault has as
// many notes as [Config.MaxNotes] allows.
func (v *Vault) Room(ctx context.Context) error {
	if v.maxNotes <= 0 {
		return nil
	}
	notes, err := v.Recent(ctx, "")
	if err != nil || len(notes) < v.maxNotes {
		return err
	}
	return sequent.Errorf(sequent.CodeQuotaExceeded, "", "delete notes that are no longer needed, or ask for a larger quota",
		"the vault has %d notes, and the quota is %d", len(notes), v.maxNotes)
}
