package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

// An npmPackage is a package.json, with its keys in the usual order.
type npmPackage struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	MCPName              string            `json:"mcpName,omitempty"` // proves to the MCP registry that its entry and the package have one owner
	Description          string            `json:"description"`
	Keywords             []string          `json:"keywords,omitempty"`
	Homepage             string            `json:"homepage"`
	Repository           npmRepository     `json:"repository"`
	License              string            `json:"license"`
	Author               string            `json:"author"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Engines              map[string]string `json:"engines,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	Files                []string          `json:"files"`
	PreferUnplugged      bool              `json:"preferUnplugged,omitempty"` // Yarn extracts it, because a program cannot be run from a zip
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
}

type npmRepository struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

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
	launcher := r.npmPackage()
	launcher.MCPName = registryName
	launcher.Keywords = []string{"mcp", "mcp-server", "sequential-thinking", "agents"}
	launcher.Engines = map[string]string{"node": ">=18"}
	launcher.Bin = map[string]string{r.name(): r.name() + ".js"}
	launcher.Files = []string{r.name() + ".js"}
	launcher.OptionalDependencies = make(map[string]string)
	license, err := os.ReadFile(filepath.Join(r.clone, "LICENSE"))
	if err != nil {
		return err
	}
	for _, p := range r.programs {
		one := r.npmPackage()
		one.Name += "-" + nodeOS[p.goos] + "-" + nodeCPU[p.goarch]
		one.Description = "The program of " + launcher.Name + " for " + nodeOS[p.goos] + " " + nodeCPU[p.goarch] + "."
		one.OS, one.CPU = []string{nodeOS[p.goos]}, []string{nodeCPU[p.goarch]}
		one.Files, one.PreferUnplugged = []string{"bin"}, true
		launcher.OptionalDependencies[one.Name] = one.Version
		if err := r.packNPM(one, packed{"LICENSE", 0o644, license}, packed{"bin/" + p.file(r.name()), 0o755, p.content}); err != nil {
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
	if err := r.packNPM(launcher, packed{"LICENSE", 0o644, license}, packed{"README.md", 0o644, readme}, packed{r.name() + ".js", 0o755, script}); err != nil {
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

func (r *release) npmPackage() npmPackage {
	return npmPackage{
		Name: scope + r.name(), Version: r.number(), Description: summary, Homepage: homepage + "#readme",
		Repository: npmRepository{"git", "git+" + homepage + ".git"}, License: license, Author: authors,
	}
}

// packNPM writes the tarball of a package, under the name that npm pack would choose.
func (r *release) packNPM(p npmPackage, files ...packed) error {
	description, err := jsonText(p)
	if err != nil {
		return err
	}
	files = append([]packed{{"package.json", 0o644, description}}, files...)
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	content, err := tarGz(files, r.commit.time)
	if err != nil {
		return err
	}
	return r.write("npm/"+tarball(p.Name, p.Version), content)
}

// tarball returns the file name of a package of our scope.
func tarball(name, version string) string {
	return scope[1:len(scope)-1] + "-" + name[len(scope):] + "-" + version + ".tgz"
}

// jsonText returns indented JSON in which < and & stay as they are.
func jsonText(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(value)
	return b.Bytes(), err
}
