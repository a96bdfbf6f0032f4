package app

import (
	"context"

	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A Finding is the result of a check.
type Finding = sqlite.Finding

// A Status is the status of a finding.
type Status = sqlite.Status

// The values of Status.
const (
	OK   = sqlite.OK
	Warn = sqlite.Warn // works, but could be better
	Fail = sqlite.Fail // does not work
)

// Diagnose checks the configured store. It changes nothing.
func Diagnose(ctx context.Context, cfg Config) ([]Finding, error) {
	place, err := Locate(cfg.Store)
	if err != nil {
		return nil, err
	}
	findings := []Finding{{Check: "store", Status: OK, Detail: place.String()}}
	if place.Default {
		findings[0].Detail += " (the default)"
	}
	if place.Memory {
		findings[0].Detail = "in memory: sessions are lost when the process ends"
		return findings, nil
	}
	if address, ok := place.Database(); ok {
		for _, f := range postgres.Diagnose(ctx, address) {
			findings = append(findings, Finding{Check: f.Check, Status: Status(f.Status), Detail: f.Detail, Fix: f.Fix})
		}
		return findings, ctx.Err()
	}
	more, err := sqlite.Diagnose(ctx, place.Path)
	return append(findings, more...), err
}
