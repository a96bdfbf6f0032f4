package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

// What packages say about the program.
const (
	title        = "sequent"
	summary      = "Numbered thoughts that agents revise, branch and read back after a restart or in another client."
	authors      = "The sequent authors"
	license      = "Apache-2.0"
	homepage     = "https://github.com/sequent-dev/sequent"
	scope        = "@sequent-dev/"
	image        = "ghcr.io/sequent-dev/sequent"
	registryName = "io.github.sequent-dev/sequent" // in the MCP registry
)

// download returns the address at which a file of the release is published.
func (r *release) download(file string) string {
	return homepage + "/releases/download/" + r.version + "/" + file
}

// An object is JSON, with its keys in alphabetical order.
type object map[string]any

// The names of systems for Node.js, which npm compares with os and cpu.
var (
	nodeOS  = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	nodeCPU = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// writeNPM writes the launcher and the packages with the program for one system each. npm
// installs the one that fits, so nothing is downloaded after the installation. Programs
// are static, so libc makes no difference.
func (r *release) writeNPM(ctx context.Context) error {
	dir := filepath.Join(r.clone, "npm", r.name())
	license, err := os.ReadFile(filepath.Join(r.clone, "LICENSE"))
	if err != nil {
		return err
	}
	fitting := object{}
	for _, p := range r.programs {
		system, cpu := nodeOS[p.goos], nodeCPU[p.goarch]
		name := scope + r.name() + "-" + system + "-" + cpu
		fitting[name] = r.number()
		err := r.packNPM(name, object{
			"description": "The program of " + scope + r.name() + " for " + system + " " + cpu + ".", "os": []string{system}, "cpu": []string{cpu},
			"files": []string{"bin"}, "preferUnplugged": true, // Yarn extracts it, because a program cannot be run from a zip
		}, packed{"LICENSE", 0o644, license}, packed{"bin/" + p.file(r.name()), 0o755, p.content})
		if err != nil {
			return err
		}
	}
	script, err := os.ReadFile(filepath.Join(dir, r.name()+".js"))
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return err
	}
	err = r.packNPM(scope+r.name(), object{
		"description": summary, "mcpName": registryName, // proves to the MCP registry that its entry and the package have one owner
		"keywords": []string{"mcp", "mcp-server", "sequential-thinking", "agents"}, "engines": object{"node": ">=18"},
		"bin": object{r.name(): r.name() + ".js"}, "files": []string{r.name() + ".js"}, "optionalDependencies": fitting,
	}, packed{"LICENSE", 0o644, license}, packed{"README.md", 0o644, readme}, packed{r.name() + ".js", 0o755, script})
	if err != nil {
		return err
	}
	return r.packLibraries(ctx)
}

// packLibraries packs the folders of npm that are packages of their own, with npm, which
// builds them.
func (r *release) packLibraries(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(r.clone, "npm", "*", "package.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		for _, args := range [][]string{
			{"ci", "--ignore-scripts", "--no-audit", "--no-fund"},
			{"version", r.number(), "--no-git-tag-version", "--allow-same-version"},
			{"pack", "--pack-destination", filepath.Join(r.out, "npm")},
		} {
			if _, err := output(ctx, dir, nil, "npm", args...); err != nil {
				return err
			}
		}
		fmt.Fprintf(r.log, "npm/%s\n", filepath.Base(dir))
	}
	return nil
}

// packNPM writes the tarball of a package, under the name that npm pack would choose.
func (r *release) packNPM(name string, p object, files ...packed) error {
	maps.Copy(p, object{
		"name": name, "version": r.number(), "homepage": homepage + "#readme", "license": license, "author": authors,
		"repository": object{"type": "git", "url": "git+" + homepage + ".git"},
	})
	files = append([]packed{{"package.json", 0o644, jsonText(p)}}, files...)
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	content, err := tarGz(files, r.commit.time)
	if err != nil {
		return err
	}
	return r.write("npm/"+tarball(name, r.number()), content)
}

// tarball returns the file name of a package of our scope.
func tarball(name, version string) string {
	return scope[1:len(scope)-1] + "-" + name[len(scope):] + "-" + version + ".tgz"
}

// jsonText returns indented JSON in which < and & stay as they are.
func jsonText(value object) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		panic(err) // it has strings, numbers, times and lists of them
	}
	return b.Bytes()
}
