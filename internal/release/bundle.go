package main

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// A manifest describes a bundle, as manifest_version 0.3 of MCPB wants it.
type manifest struct {
	ManifestVersion string         `json:"manifest_version"`
	Name            string         `json:"name"`
	DisplayName     string         `json:"display_name"`
	Version         string         `json:"version"`
	Description     string         `json:"description"`
	Author          named          `json:"author"`
	Repository      npmRepository  `json:"repository"`
	Homepage        string         `json:"homepage"`
	License         string         `json:"license"`
	ToolsGenerated  bool           `json:"tools_generated"` // the server lists them; their names depend on the dialect
	Server          manifestServer `json:"server"`
	Compatibility   struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

type named struct {
	Name string `json:"name"`
}

type manifestServer struct {
	Type       string        `json:"type"`
	EntryPoint string        `json:"entry_point"`
	Config     manifestEntry `json:"mcp_config"`
}

type manifestEntry struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// bundle returns the file name of the bundle for a system.
func (r *release) bundle(p program) string { return r.base(p) + ".mcpb" }

// writeBundles writes a bundle for each system. A manifest cannot choose a program by the
// processor, so a bundle has one.
func (r *release) writeBundles(context.Context) error {
	for _, p := range r.programs {
		file := "server/" + p.file(r.name())
		m := manifest{
			ManifestVersion: "0.3", Name: r.name(), DisplayName: title, Version: r.number(), Description: summary,
			Author: named{authors}, Repository: npmRepository{"git", homepage}, Homepage: homepage, License: license, ToolsGenerated: true,
			Server: manifestServer{"binary", file, manifestEntry{"${__dirname}/" + file, []string{"serve"}}},
		}
		m.Compatibility.Platforms = []string{nodeOS[p.goos]}
		text, err := jsonText(m)
		if err != nil {
			return err
		}
		content, err := zipped([]packed{{"manifest.json", 0o644, text}, {file, 0o755, p.content}}, r.commit.time)
		if err != nil {
			return err
		}
		if err := r.write(r.bundle(p), content); err != nil {
			return err
		}
		if r.bundles == nil {
			r.bundles = make(map[string]string)
		}
		r.bundles[r.bundle(p)] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return nil
}
