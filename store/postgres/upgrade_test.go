//go:build unix

package postgres

import (
	"fmt"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/storetest"
)

func TestUpgradeInUse(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	storetest.RunUpgrade(t, storetest.Upgrade{
		Open: func(t *testing.T) sequent.Store { return openAt(t, url) },
		Add: func(t *testing.T) {
			exec(t, url, fmt.Sprintf("ALTER TABLE thoughts ADD COLUMN mood text NOT NULL DEFAULT ''; UPDATE sequent_schema SET version = %d", latest+1))
		},
		Bar: func(t *testing.T) {
			exec(t, url, fmt.Sprintf("UPDATE sequent_schema SET version = %[1]d, oldest_writer = %[1]d", latest+2))
		},
	})
	if s, err := Open(t.Context(), Config{URL: url}); sequent.CodeOf(err) != sequent.CodeNewerSchema {
		t.Errorf("Open = %v, %v, want code %s", s, err, sequent.CodeNewerSchema)
	}
}
