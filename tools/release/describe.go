package main

import (
	"context"
	"crypto/sha256"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

//go:embed formula.rb.tmpl
var templates embed.FS

// writeDescriptions writes what registries and package managers read: server.json, the
// formula, and the scripts that install an archive.
func (r *release) writeDescriptions(context.Context) error {
	stdio := object{"type": "stdio"}
	packages := []object{
		{
			"registryType": "npm", "identifier": scope + r.name(), "version": r.number(), "runtimeHint": "npx", "transport": stdio,
			"packageArguments": []object{{"type": "positional", "value": "serve"}},
		},
		{"registryType": "oci", "identifier": image + ":" + r.number(), "runtimeHint": "docker", "transport": stdio},
	}
	for _, p := range r.programs {
		packages = append(packages, object{
			"registryType": "mcpb", "identifier": r.download(r.bundle(p)), "version": r.number(), "fileSha256": r.bundles[r.bundle(p)], "transport": stdio,
		})
	}
	err := r.write("server.json", jsonText(object{
		"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":    registryName, "title": title, "description": summary, "websiteUrl": homepage,
		"repository": object{"url": homepage, "source": "github"}, "version": r.number(), "packages": packages,
	}))
	if err != nil {
		return err
	}
	if err := r.writeFormula(); err != nil {
		return err
	}
	for _, name := range []string{"install.sh", "install.ps1"} {
		script, err := os.ReadFile(filepath.Join(r.clone, "packaging", name))
		if err != nil {
			return err
		}
		if err := r.write(name, script); err != nil {
			return err
		}
	}
	return nil
}

// writeFormula writes the Homebrew formula, which installs the archives.
func (r *release) writeFormula() error {
	type archive struct{ OS, CPU, URL, SHA256 string }
	systems := make(map[string][]archive)
	for _, p := range r.programs {
		if p.goos == "windows" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(r.out, r.archive(p)))
		if err != nil {
			return err
		}
		cpu := map[string]string{"amd64": "intel", "arm64": "arm"}[p.goarch]
		systems[p.goos] = append(systems[p.goos], archive{p.goos, cpu, r.download(r.archive(p)), fmt.Sprintf("%x", sha256.Sum256(content))})
	}
	type system struct {
		Name     string
		Archives []archive
	}
	var list []system
	for goos, name := range map[string]string{"darwin": "macos", "linux": "linux"} {
		if len(systems[goos]) > 0 {
			list = append(list, system{name, systems[goos]})
		}
	}
	slices.SortFunc(list, func(a, b system) int { return strings.Compare(b.Name, a.Name) })
	t, err := template.ParseFS(templates, "formula.rb.tmpl")
	if err != nil {
		return err
	}
	var text strings.Builder
	err = t.Execute(&text, map[string]any{
		"Class": strings.ToUpper(r.name()[:1]) + r.name()[1:], "Name": r.name(), "Summary": strings.TrimSuffix(summary, "."),
		"Homepage": homepage, "Version": r.number(), "License": license, "Systems": list,
	})
	if err != nil {
		return err
	}
	return r.write(r.name()+".rb", []byte(text.String()))
}
