package app

import (
	"fmt"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/standard"
)

// An offer is a dialect that this program can serve.
type offer struct {
	name  string
	build func(*App) (dialect.Dialect, error)
}

// offers are all of them, the default first. A dialect is removed by deleting
// its line, what it calls, and its folder.
func offers() []offer {
	return []offer{
		{"standard", buildStandard},
	}
}

// Dialects returns the names of the dialects, the default first.
func Dialects() []string {
	var names []string
	for _, o := range offers() {
		names = append(names, o.name)
	}
	return names
}

// Dialect returns the dialect that the configuration names.
func (a *App) Dialect() (dialect.Dialect, error) {
	all := offers()
	if a.config.Dialect == "" {
		return all[0].build(a)
	}
	for _, o := range all {
		if o.name == a.config.Dialect {
			return o.build(a)
		}
	}
	return dialect.Dialect{}, &ConfigError{
		Msg: fmt.Sprintf("there is no dialect %q", a.config.Dialect),
		Fix: "use one of " + strings.Join(Dialects(), ", "),
	}
}

func buildStandard(a *App) (dialect.Dialect, error) {
	return standard.New(standard.Config{
		Engine: a.Engine,
		Render: standard.Render{
			Markdown: archive.Markdown,
			JSON:     func(s *sequent.Session) string { return string(archive.JSON(s)) },
			Mermaid:  archive.Mermaid,
		},
	}), nil
}
