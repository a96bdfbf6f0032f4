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

// A registryServer is an entry of the MCP registry, as its schema of 2025-12-11 wants it.
type registryServer struct {
	Schema      string             `json:"$schema"`
	Name        string             `json:"name"`
	Title       string             `json:"title"`
	Description string             `json:"description"`
	WebsiteURL  string             `json:"websiteUrl"`
	Repository  registryRepository `json:"repository"`
	Version     string             `json:"version"`
	Packages    []registryPackage  `json:"packages"`
}

type registryRepository struct {
	URL    string `json:"url"`
	Source string `json:"source"`
}

type registryPackage struct {
	RegistryType string             `json:"registryType"`
	Identifier   string             `json:"identifier"`
	Version      string             `json:"version,omitempty"` // images have it in the identifier
	FileSHA256   string             `json:"fileSha256,omitempty"`
	RuntimeHint  string             `json:"runtimeHint,omitempty"`
	Transport    registryTransport  `json:"transport"`
	Arguments    []registryArgument `json:"packageArguments,omitempty"`
}

type registryTransport struct {
	Type string `json:"type"`
}

type registryArgument struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// writeDescriptions writes what registries and package managers read: server.json, the
// formula, and the scripts that install an archive.
func (r *release) writeDescriptions(context.Context) error {
	stdio, serve := registryTransport{"stdio"}, []registryArgument{{"positional", "serve"}}
	packages := []registryPackage{
		{RegistryType: "npm", Identifier: scope + r.name(), Version: r.number(), RuntimeHint: "npx", Transport: stdio, Arguments: serve},
		{RegistryType: "oci", Identifier: image + ":" + r.number(), RuntimeHint: "docker", Transport: stdio},
	}
	for _, p := range r.programs {
		packages = append(packages, registryPackage{
			RegistryType: "mcpb", Identifier: r.download(r.bundle(p)), Version: r.number(), FileSHA256: r.bundles[r.bundle(p)], Transport: stdio,
		})
	}
	text, err := jsonText(registryServer{
		Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:   registryName, Title: title, Description: summary, WebsiteURL: homepage,
		Repository: registryRepository{homepage, "github"}, Version: r.number(), Packages: packages,
	})
	if err != nil {
		return err
	}
	if err := r.write("server.json", text); err != nil {
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
