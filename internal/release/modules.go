package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writeModules writes a proxy of files, in the form that "go help goproxy" tells.
func (r *release) writeModules(ctx context.Context) error {
	list, err := output(ctx, r.clone, nil, "git", "ls-files", "-z", "--cached")
	if err != nil {
		return err
	}
	files := strings.Split(strings.Trim(string(list), "\x00"), "\x00")
	for _, m := range r.modules {
		if strings.ToLower(m.path) != m.path {
			return fmt.Errorf("module %s has capital letters, which a proxy escapes; they are not supported here", m.path)
		}
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
		var archive bytes.Buffer
		if err := r.zipModule(&archive, m, moduleFiles(files, m)); err != nil {
			return err
		}
		for name, content := range map[string][]byte{
			"list":              []byte(r.version + "\n"),
			r.version + ".info": info,
			r.version + ".mod":  goMod,
			r.version + ".zip":  archive.Bytes(),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				return err
			}
		}
		fmt.Fprintf(r.log, "%s %s, %d KiB\n", m.path, r.version, archive.Len()>>10)
	}
	return nil
}

// moduleFiles returns those of the repository's files that belong to a module,
// by their names in it. Files of modules below it do not, and a module without a
// license has the repository's.
func moduleFiles(files []string, m module) map[string]string {
	nested := make([]string, 0, 8) // directories with modules below this one
	for _, f := range files {
		if dir := path.Dir(f); path.Base(f) == "go.mod" && dir != m.dir && within(m.dir, dir) {
			nested = append(nested, dir)
		}
	}
	found := make(map[string]string)
	for _, f := range files {
		inNested := slices.ContainsFunc(nested, func(dir string) bool { return within(dir, f) })
		if within(m.dir, f) && !inNested {
			found[strings.TrimPrefix(f, m.dir+"/")] = f
		}
	}
	if found["LICENSE"] == "" && slices.Contains(files, "LICENSE") {
		found["LICENSE"] = "LICENSE"
	}
	return found
}

// within reports whether a name is below a directory.
func within(dir, name string) bool {
	return dir == "." || strings.HasPrefix(name, dir+"/")
}

// zipModule writes a module as the go command reads it: each file below
// PATH@VERSION/, links and other files that are not regular left out.
func (r *release) zipModule(w io.Writer, m module, files map[string]string) error {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	z := zip.NewWriter(w)
	for _, name := range names {
		file := filepath.Join(r.clone, filepath.FromSlash(files[name]))
		if info, err := os.Lstat(file); err != nil {
			return err
		} else if !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		entry, err := z.Create(m.path + "@" + r.version + "/" + name)
		if err != nil {
			return err
		}
		if _, err := entry.Write(content); err != nil {
			return err
		}
	}
	return z.Close()
}
