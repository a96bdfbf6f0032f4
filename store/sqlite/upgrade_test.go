package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

func TestUpgradeInUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.db")
	storetest.RunUpgrade(t, storetest.Upgrade{
		Open: func(t *testing.T) sequent.Store { return openAt(t, path) },
		Add: func(t *testing.T) {
			raw(t, path, fmt.Sprintf("BEGIN IMMEDIATE; ALTER TABLE thoughts ADD COLUMN mood TEXT NOT NULL DEFAULT ''; PRAGMA user_version=%d; COMMIT", latest+1))
		},
		Bar: func(t *testing.T) {
			raw(t, path, fmt.Sprintf("BEGIN IMMEDIATE; UPDATE identity SET oldest_writer=%[1]d; PRAGMA user_version=%[1]d; COMMIT", latest+2))
		},
	})
	refused(t, Config{Path: path}, sequent.CodeNewerSchema)
}
