package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/dialect/classic"
	"github.com/sequent-dev/sequent/dialect/guided"
	"github.com/sequent-dev/sequent/dialect/history"
	"github.com/sequent-dev/sequent/dialect/standard"
	"github.com/sequent-dev/sequent/dialect/status"
	"github.com/sequent-dev/sequent/setup"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/web"
)

// An offer is a dialect of this program.
type offer struct {
	name  string
	build func(*App) (dialect.Dialect, error)
}

// plain returns an offer of a dialect that cannot fail to build.
func plain(name string, build func(*App) dialect.Dialect) offer {
	return offer{name, func(a *App) (dialect.Dialect, error) { return build(a), nil }}
}

// offers returns the dialects of this module, the default first. A dialect without
// settings is one line here and its import; one with settings has a function below.
func offers() []offer {
	return []offer{
		{"standard", buildStandard},
		{"classic", buildClassic},
		plain("guided", func(a *App) dialect.Dialect { return guided.New(guided.Config{Engine: a.Engine, Logger: a.logger}) }),
		{"history", buildHistory},
		{"status", buildStatus},
		{"wiki", buildWiki},
	}
}

// nativeName is the name of the dialect for libraries in other languages. Lists of
// dialects leave it out, because it is not for models.
const nativeName = "native"

// Names returns the names of all dialects for models that the program can serve, the
// default first.
func (c Config) Names() []string {
	var names []string
	for _, o := range c.offers() {
		if o.name != nativeName {
			names = append(names, o.name)
		}
	}
	return names
}

// offers returns all dialects that the program can serve.
func (c Config) offers() []offer {
	all := offers()
	all = append(all, plain(nativeName, func(a *App) dialect.Dialect { return history.Native(a.historyConfig()) }))
	for _, b := range c.Dialects {
		all = append(all, offer{b.Name, func(a *App) (dialect.Dialect, error) { return a.build(b) }})
	}
	return all
}

// offer returns the configured dialect.
func (c Config) offer() (offer, error) {
	all := c.offers()
	if err := checkNames(all); err != nil {
		return offer{}, err
	}
	if c.Dialect == "" {
		return all[0], nil
	}
	i := slices.IndexFunc(all, func(o offer) bool { return o.name == c.Dialect })
	if i < 0 {
		return offer{}, badFlag("dialect", c.Dialect, "use one of "+strings.Join(c.Names(), ", "))
	}
	return all[i], nil
}

// Dialect builds the configured dialect.
func (a *App) Dialect() (dialect.Dialect, error) {
	o, err := a.config.offer()
	if err != nil {
		return dialect.Dialect{}, err
	}
	return o.dialect(a)
}

// dialect builds the dialect with the tools that are configured for it, and with pages for
// clients that show them.
func (o offer) dialect(a *App) (dialect.Dialect, error) {
	d, err := o.build(a)
	if err != nil {
		return dialect.Dialect{}, err
	}
	if chosen, err := a.config.offer(); err == nil && chosen.name == o.name {
		if d, err = a.config.selectTools(d); err != nil {
			return dialect.Dialect{}, err
		}
	}
	return web.InChat(d, a.Engine), nil
}

// selectTools leaves out the tools of a dialect that the configuration does not name.
func (c Config) selectTools(d dialect.Dialect) (dialect.Dialect, error) {
	if len(c.Tools) == 0 {
		return d, nil
	}
	var chosen []tool.Tool
	var all []string
	for _, t := range d.Tools { // in the dialect's order
		all = append(all, t.Name)
		if slices.Contains(c.Tools, t.Name) {
			chosen = append(chosen, t)
		}
	}
	for _, name := range c.Tools {
		if !slices.Contains(all, name) {
			return d, usage(fmt.Sprintf("invalid value %q for --tools: the dialect %s has no such tool", name, d.Name),
				"use some of "+strings.Join(all, ", "))
		}
	}
	d.Tools = chosen
	return d, nil
}

// allDialects builds every dialect, the configured one first.
func (a *App) allDialects() ([]dialect.Dialect, error) {
	chosen, err := a.config.offer()
	if err != nil {
		return nil, err
	}
	var all []dialect.Dialect
	for _, o := range a.config.offers() {
		d, err := o.dialect(a)
		if err != nil {
			return nil, err
		}
		if o.name == chosen.name {
			all = slices.Insert(all, 0, d)
		} else {
			all = append(all, d)
		}
	}
	return all, nil
}

func buildStandard(a *App) (dialect.Dialect, error) {
	d := standard.New(standard.Config{
		Engine: a.Engine,
		Render: standard.Render{
			Markdown: archive.Markdown,
			JSON:     func(s *sequent.Session) string { return string(archive.JSON(s)) },
			Mermaid:  archive.Mermaid,
		},
		NoEarlier: a.config.NoEarlier,
		Commits:   a.projects.commits,
	})
	d.Skills = []dialect.Skill{{Name: setup.EntryName, Description: setup.SkillDescription(), Text: setup.Skill}}
	return d, nil
}

func buildClassic(a *App) (dialect.Dialect, error) {
	dir, err := a.storageDir()
	if err != nil {
		return dialect.Dialect{}, err
	}
	var files classic.Archive = archive.Dir(dir)
	if a.config.SignKey != nil {
		files = signedFiles{archive.Dir(dir), a.config.SignKey}
	}
	return classic.New(classic.Config{
		Engine:  a.Engine,
		Archive: files,
		Drawing: a.config.Drawing.Out,
		Colour:  a.config.Drawing.Colour,
		Width:   a.config.Drawing.Width,
		Logger:  a.logger,
	}), nil
}

// storageDir returns the absolute path of the folder for files of a dialect.
func (a *App) storageDir() (string, error) {
	return absolute(cmp.Or(a.config.StoragePath, "~/Documents/thinking"))
}

func buildHistory(a *App) (dialect.Dialect, error) { return history.New(a.historyConfig()), nil }

func (a *App) historyConfig() history.Config {
	c := history.Config{Engine: a.Engine, Window: a.config.HistoryWindow}
	if ttl := a.config.SessionTTL; ttl != nil {
		c.TTL = cmp.Or(*ttl, -1) // there 0 means 30 minutes
	}
	return c
}

func buildStatus(a *App) (dialect.Dialect, error) {
	c := status.Config{Engine: a.Engine, Model: newWriter(a.config.Model, a.telemetry)}
	if a.drafts != nil {
		c.Board = a.drafts
	}
	return status.New(c), nil
}
