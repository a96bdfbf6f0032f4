package main

import (
	"context"
	"crypto/sha256"
	"fmt"
)

// bundle returns the file name of the bundle for a system.
func (r *release) bundle(p program) string { return r.base(p) + ".mcpb" }

// writeBundles writes a bundle for each system. A manifest cannot choose a program by the
// processor, so a bundle has one.
func (r *release) writeBundles(context.Context) error {
	for _, p := range r.programs {
		file := "server/" + p.file(r.name())
		manifest := jsonText(object{ // manifest_version 0.3 of MCPB
			"manifest_version": "0.3", "name": r.name(), "display_name": title, "version": r.number(), "description": summary,
			"author": object{"name": authors}, "repository": object{"type": "git", "url": homepage}, "homepage": homepage, "license": license,
			"tools_generated": true, // the server lists them; their names depend on the dialect
			"server": object{
				"type": "binary", "entry_point": file, "mcp_config": object{"command": "${__dirname}/" + file, "args": []string{"serve"}},
			},
			"compatibility": object{"platforms": []string{nodeOS[p.goos]}},
		})
		content, err := zipped([]packed{{"manifest.json", 0o644, manifest}, {file, 0o755, p.content}}, r.commit.time)
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
