package main

import (
	"context"
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
