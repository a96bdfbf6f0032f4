package command

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// A build describes this binary.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Date     string `json:"date,omitempty"`     // time of the commit, RFC 3339
	Modified bool   `json:"modified,omitempty"` // built with uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// modulePath is the path of this module.
const modulePath = "github.com/sequent-dev/sequent"

// buildInfo describes the binary by the version of this module, which is a dependency
// in a program with dialects of another module.
func buildInfo() build {
	b := build{Version: "dev", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	module := &info.Main
	if module.Path != modulePath {
		if i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == modulePath }); i >= 0 {
			module = info.Deps[i]
		}
		info.Settings = nil // of the other module
	}
	if module.Replace == nil && module.Version != "" && module.Version != "(devel)" {
		b.Version = module.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	s := "sequent " + b.Version
	if b.Revision != "" {
		s += " (" + b.Revision[:min(len(b.Revision), 12)]
		if day, _, ok := strings.Cut(b.Date, "T"); ok {
			s += ", " + day
		}
		if b.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return fmt.Sprintf("%s %s %s/%s", s, cmp.Or(b.Go, "go"), b.OS, b.Arch)
}

func (b build) text(pg *page) { pg.say("%s", b) }

func runVersion(*program, context.Context) (result, error) { return buildInfo(), nil }
