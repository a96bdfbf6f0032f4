package app

import (
	"context"

	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// Diagnose checks the configured store. It changes nothing.
func Diagnose(ctx context.Context, cfg Config) ([]diagnosis.Finding, error) {
	place, err := Locate(cfg.Store)
	if err != nil {
		return nil, err
	}
	findings := []diagnosis.Finding{{Check: "store", Status: diagnosis.OK, Detail: place.String()}}
	if place.Default {
		findings[0].Detail += " (the default)"
	}
	if place.Memory {
		findings[0].Detail = "in memory: sessions are lost when the process ends"
		return findings, nil
	}
	if address, ok := place.Database(); ok {
		return append(findings, postgres.Diagnose(ctx, address)...), ctx.Err()
	}
	more, err := sqlite.Diagnose(ctx, place.Path)
	return append(findings, more...), err
}
