package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// environment returns what makes the go command take the modules from the proxy
// that was written. The module cache is a new one, so that the version of a trial
// stays in no cache that is used later. Modules of others are read from the
// user's cache, as from a proxy, and what that lacks from GOPROXY.
func (r *release) environment(ctx context.Context) ([]string, error) {
	out, err := output(ctx, r.clone, nil, "go", "env", "-json", "GOMODCACHE", "GOPROXY", "GONOSUMDB")
	if err != nil {
		return nil, err
	}
	var user struct{ GOMODCACHE, GOPROXY, GONOSUMDB string }
	if err := json.Unmarshal(out, &user); err != nil {
		return nil, err
	}
	unchecked := r.modules[0].path // and all below it: no checksum database has them
	if user.GONOSUMDB != "" {
		unchecked += "," + user.GONOSUMDB
	}
	return []string{
		"GOPROXY=" + fileURL(filepath.Join(r.out, "modules")) + "," + fileURL(filepath.Join(user.GOMODCACHE, "cache", "download")) + "," + user.GOPROXY,
		"GONOPROXY=", "GOPRIVATE=", // otherwise the go command might look for the modules at their origin
		"GONOSUMDB=" + unchecked,
		"GOMODCACHE=" + filepath.Join(r.work, "cache"),
		"GOFLAGS=-mod=mod -modcacherw",
	}, nil
}

func fileURL(dir string) string {
	name := filepath.ToSlash(dir)
	if !strings.HasPrefix(name, "/") { // a drive of Windows
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

// prove uses what was made as others do: it gets each module in a module of its
// own, builds a program with its packages, and runs the installed command.
func (r *release) prove(ctx context.Context) error {
	env, err := r.environment(ctx)
	if err != nil {
		return err
	}
	root := r.modules[0]
	for _, m := range r.modules {
		dir, err := os.MkdirTemp(r.work, "proof")
		if err != nil {
			return err
		}
		program := fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", m.path)
		if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
			return err
		}
		for _, args := range [][]string{
			{"mod", "init", "example.com/proof"},
			{"get", m.path + "@" + r.version},
			{"build", "-trimpath", "-o", filepath.Join(dir, "program"), "."},
		} {
			if _, err := output(ctx, dir, env, "go", args...); err != nil {
				return err
			}
		}
		selected, err := output(ctx, dir, env, "go", "list", "-m", root.path)
		if err != nil {
			return err
		}
		if want := root.path + " " + r.version; strings.TrimSpace(string(selected)) != want {
			return fmt.Errorf("with %s a program gets %s, want %s", m.path, selected, want)
		}
		fmt.Fprintf(r.log, "go get %s@%s\n", m.path, r.version)
	}
	program, err := r.install(ctx, env)
	if err != nil {
		return err
	}
	said, err := output(ctx, r.work, nil, program, "version")
	if err != nil {
		return err
	}
	if !strings.Contains(string(said), r.version) {
		return fmt.Errorf("the installed command says %q, which has no %s", said, r.version)
	}
	fmt.Fprintf(r.log, "go install %s@%s: %s", r.command, r.version, said)
	return nil
}

// install runs go install of the command's version in a new GOPATH and returns
// the program's file.
func (r *release) install(ctx context.Context, env []string) (string, error) {
	gopath, err := os.MkdirTemp(r.work, "install")
	if err != nil {
		return "", err
	}
	env = append(env, "GOPATH="+gopath)
	if _, err := output(ctx, r.work, env, "go", "install", "-trimpath", "-ldflags=-s -w", r.command+"@"+r.version); err != nil {
		return "", err
	}
	file := filepath.Join(gopath, "bin", r.name())
	if runtime.GOOS == "windows" {
		file += ".exe"
	}
	return file, nil
}
