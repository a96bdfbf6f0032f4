package app

import (
	"context"

	"github.com/sequent-dev/sequent/store/postgres"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// A Finding is what one check of Diagnose found.
type Finding = sqlite.Finding

// A Status says how good a finding is.
type Status = sqlite.Status

// The values of Status.
const (
	OK   = sqlite.OK
	Warn = sqlite.Warn // works, but could be better
	Fail = sqlite.Fail // does not work
)

// Diagnose looks for anything that would keep the program from working with the
// configured store. It changes nothing.
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
		findings[0].Detail = "in memory: sessions end with the process that has them"
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
