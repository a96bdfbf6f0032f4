package app

import (
	"crypto/rand"
	"fmt"
	"io"
	"regexp"

	"github.com/sequent-dev/sequent/dialect"
)

// dialectName matches names that can be part of a URL.
var dialectName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// checkNames refuses dialects that could not be told apart.
func checkNames(all []offer) error {
	seen := make(map[string]bool)
	for _, o := range all {
		switch {
		case !dialectName.MatchString(o.name):
			return usage(fmt.Sprintf("invalid name %q of a dialect", o.name),
				"use lower-case letters, digits and hyphens in dialect.Builder")
		case seen[o.name]:
			return usage(fmt.Sprintf("two dialects have the name %q", o.name), "choose another name in dialect.Builder")
		}
		seen[o.name] = true
	}
	return nil
}

// build builds a dialect that is not of this module.
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
	if err == nil && d.Name != b.Name {
		err = usage(fmt.Sprintf("the dialect %q was built under the name %q", d.Name, b.Name),
			"set Name in dialect.Builder to the dialect's")
	}
	return d, err
}
