package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// writeModules writes a proxy of files, in the form that "go help goproxy" tells.
func (r *release) writeModules(ctx context.Context) error {
	nested, err := output(ctx, r.clone, nil, "git", "ls-files", "*/go.mod")
	if err != nil {
		return err
	}
	for _, m := range r.modules {
		dir := filepath.Join(r.out, "modules", filepath.FromSlash(m.path), "@v")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		goMod, err := os.ReadFile(filepath.Join(r.clone, m.dir, "go.mod"))
		if err != nil {
			return err
		}
		info, err := json.Marshal(struct {
			Version string
			Time    time.Time
		}{r.version, r.commit.time.UTC()})
		if err != nil {
			return err
		}
		for name, content := range map[string][]byte{"list": []byte(r.version + "\n"), r.version + ".info": info, r.version + ".mod": goMod} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				return err
			}
		}
		args := []string{"archive", "--output=" + filepath.Join(dir, r.version+".zip"), "--prefix=" + m.path + "@" + r.version + "/"}
		if m.dir == "." { // without the modules below it
			args = append(args, "HEAD", ".")
			for file := range strings.FieldsSeq(string(nested)) {
				args = append(args, ":(exclude)"+path.Dir(file))
			}
		} else { // with the license, as the go command adds it
			args = append(args, "--add-file=LICENSE", "HEAD:"+m.dir)
		}
		if _, err := output(ctx, r.clone, nil, "git", args...); err != nil {
			return err
		}
		fmt.Fprintf(r.log, "%s %s\n", m.path, r.version)
	}
	return nil
}

// buildArchives builds the command for each system from the module in the proxy,
// and packs it. Archives of one commit are the same bytes each time.
func (r *release) buildArchives(ctx context.Context) error {
	env, err := r.environment(ctx)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, system := range r.systems {
		goos, goarch, _ := strings.Cut(system, "/")
		program, err := r.install(ctx, append(env, "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch))
		if err != nil {
			return err
		}
		name := path.Base(r.command) + "_" + strings.TrimPrefix(r.version, "v") + "_" + goos + "_" + goarch
		file := name + ".tar.gz"
		if goos == "windows" {
			file = name + ".zip"
		}
		if _, err := output(ctx, r.clone, nil, "git", "archive", "--output="+filepath.Join(r.out, file), "--prefix="+name+"/",
			"--add-file="+program, "HEAD", "LICENSE", "README.md", "CHANGELOG.md"); err != nil {
			return err
		}
		content, err := os.ReadFile(filepath.Join(r.out, file))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), file)
		fmt.Fprintf(r.log, "%s, %d KiB\n", file, len(content)>>10)
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
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
	// For another system than this one the program is in a directory of its name.
	for _, pattern := range []string{"*", filepath.Join("*", "*")} {
		found, err := filepath.Glob(filepath.Join(gopath, "bin", pattern))
		if err != nil {
			return "", err
		}
		for _, f := range found {
			if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
				return f, nil
			}
		}
	}
	return "", fmt.Errorf("go install %s@%s made no program", r.command, r.version)
}
