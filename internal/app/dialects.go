package app

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"regexp"
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
	"github.com/sequent-dev/sequent/llm"
	"github.com/sequent-dev/sequent/setup"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/web"
)

// builders returns what builds the dialects that the program can serve, the default first. A dialect without
// settings is one line here and its import; one with settings has a function below.
func (a *App) builders() []dialect.Builder {
	return append([]dialect.Builder{
		plain("standard", a.standard),
		{Name: "classic", Build: a.classic},
		plain("guided", func() dialect.Dialect { return guided.New(guided.Config{Engine: a.Engine, Logger: a.logger}) }),
		plain("history", func() dialect.Dialect { return history.New(a.historyConfig()) }),
		plain("status", a.status),
		{Name: "wiki", Build: a.wiki},
		plain(nativeName, func() dialect.Dialect { return history.Native(a.historyConfig()) }),
	}, a.config.Dialects...)
}

// plain returns the builder of a dialect that needs nothing but the App, and cannot fail to build.
func plain(name string, build func() dialect.Dialect) dialect.Builder {
	return dialect.Builder{Name: name, Build: func(dialect.Env) (dialect.Dialect, error) { return build(), nil }}
}

// nativeName is the name of the dialect for libraries in other languages. Lists of
// dialects leave it out, because it is not for models.
const nativeName = "native"

// Names returns the names of all dialects for models that the program can serve, the
// default first.
func (c Config) Names() []string {
	var names []string
	for _, b := range (&App{config: c}).builders() {
		if b.Name != nativeName {
			names = append(names, b.Name)
		}
	}
	return names
}

// dialectName matches names that can be part of a URL.
var dialectName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// chosen returns the builder of the configured dialect. It refuses dialects that could not be told apart.
func (a *App) chosen() (dialect.Builder, error) {
	all, found := a.builders(), -1
	for i, b := range all {
		named := func(other dialect.Builder) bool { return other.Name == b.Name }
		if !dialectName.MatchString(b.Name) || slices.ContainsFunc(all[:i], named) {
			return b, usage(fmt.Sprintf("a dialect cannot have the name %q, or a second one has it", b.Name),
				"use lower-case letters, digits and hyphens, and no name of another dialect, in dialect.Builder")
		}
		if b.Name == cmp.Or(a.config.Dialect, all[0].Name) {
			found = i
		}
	}
	if found < 0 {
		return dialect.Builder{}, badFlag("dialect", a.config.Dialect, "use one of "+strings.Join(a.config.Names(), ", "))
	}
	return all[found], nil
}

// Dialect builds the configured dialect, with the tools that are configured for it.
func (a *App) Dialect() (dialect.Dialect, error) {
	b, err := a.chosen()
	if err != nil {
		return dialect.Dialect{}, err
	}
	d, err := a.build(b)
	if err != nil || len(a.config.Tools) == 0 {
		return d, err
	}
	var names []string
	for _, t := range d.Tools {
		names = append(names, t.Name)
	}
	for _, name := range a.config.Tools {
		if !slices.Contains(names, name) {
			return d, usage(fmt.Sprintf("invalid value %q for --tools: the dialect %s has no such tool", name, d.Name),
				"use some of "+strings.Join(names, ", "))
		}
	}
	d.Tools = slices.DeleteFunc(d.Tools, func(t tool.Tool) bool { return !slices.Contains(a.config.Tools, t.Name) })
	return d, nil
}

// allDialects builds every dialect, the configured one first.
func (a *App) allDialects() ([]dialect.Dialect, error) {
	first, err := a.Dialect()
	all := []dialect.Dialect{first}
	for _, b := range a.builders() {
		if b.Name == first.Name || err != nil {
			continue
		}
		var d dialect.Dialect
		d, err = a.build(b)
		all = append(all, d)
	}
	return all, err
}

// build builds a dialect, with pages for clients that show them.
func (a *App) build(b dialect.Builder) (dialect.Dialect, error) {
	dir, err := a.storageDir()
	if err != nil && a.config.StoragePath != "" {
		return dialect.Dialect{}, err
	}
	env := dialect.Env{Engine: a.Engine, Rand: rand.Reader, Logger: a.logger, Dir: dir, Stderr: a.config.Drawing.Out}
	if env.Stderr == nil {
		env.Stderr = io.Discard
	}
	d, err := b.Build(env)
	switch {
	case err != nil:
		return d, err
	case d.Name != b.Name:
		return d, usage(fmt.Sprintf("the dialect %q was built under the name %q", d.Name, b.Name), "set Name in dialect.Builder to the dialect's")
	}
	return web.InChat(d, a.Engine), nil
}

func (a *App) standard() dialect.Dialect {
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
	return d
}

func (a *App) classic(dialect.Env) (dialect.Dialect, error) {
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

func (a *App) historyConfig() history.Config {
	c := history.Config{Engine: a.Engine, Window: a.config.HistoryWindow}
	if ttl := a.config.SessionTTL; ttl != nil {
		c.TTL = cmp.Or(*ttl, -1) // there 0 means 30 minutes
	}
	return c
}

func (a *App) status() dialect.Dialect {
	c := status.Config{Engine: a.Engine, Model: &writer{config: a.config.Model, telemetry: a.telemetry, clients: make(map[string]llm.Model)}}
	if a.drafts != nil {
		c.Board = a.drafts
	}
	return status.New(c)
}
