package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"
)

// Media types of the OCI image format.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// imageUser owns the process and /data in a container. It is no user of the host.
const imageUser = 65532

// writeImage writes an image for each architecture of Linux, in one archive in the OCI
// layout, which tools copy to a registry without a daemon. The image has the program and
// its directories, and nothing else. It serves standard input unless arguments say
// otherwise; sessions are in /data.
func (r *release) writeImage(context.Context) error {
	var blobs []packed
	add := func(mediaType string, content []byte) object {
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		blobs = append(blobs, packed{"blobs/sha256/" + sum, 0o644, content})
		return object{"mediaType": mediaType, "digest": "sha256:" + sum, "size": len(content)}
	}
	labels := object{
		"org.opencontainers.image.title": title, "org.opencontainers.image.description": summary, "org.opencontainers.image.version": r.number(),
		"org.opencontainers.image.revision": r.commit.id, "org.opencontainers.image.source": homepage, "org.opencontainers.image.licenses": license,
		"org.opencontainers.image.created":    r.commit.time.UTC().Format(time.RFC3339),
		"io.modelcontextprotocol.server.name": registryName, // proves to the MCP registry that its entry and the image have one owner
	}
	var manifests []object
	for _, p := range r.programs {
		if p.goos != "linux" {
			continue
		}
		layer, diff, err := r.layer(p)
		if err != nil {
			return err
		}
		config := add(typeConfig, jsonText(object{
			"architecture": p.goarch, "os": p.goos, "created": r.commit.time.UTC(), "rootfs": object{"type": "layers", "diff_ids": []string{diff}},
			"config": object{
				"User": fmt.Sprintf("%d:%d", imageUser, imageUser), "Env": []string{"PATH=/", "HOME=/data", "XDG_DATA_HOME=/data"},
				"Entrypoint": []string{"/" + r.name()}, "Cmd": []string{"serve"}, "WorkingDir": "/data", "Volumes": object{"/data": object{}}, "Labels": labels,
			},
		}))
		m := add(typeManifest, jsonText(object{
			"schemaVersion": 2, "mediaType": typeManifest, "config": config, "layers": []object{add(typeLayer, layer)}, "annotations": labels,
		}))
		m["platform"] = object{"architecture": p.goarch, "os": p.goos}
		manifests = append(manifests, m)
	}
	if len(manifests) == 0 {
		return nil
	}
	index := func(annotations object, list []object) []byte {
		return jsonText(object{"schemaVersion": 2, "mediaType": typeIndex, "manifests": list, "annotations": annotations})
	}
	all := add(typeIndex, index(labels, manifests))
	all["annotations"] = object{"org.opencontainers.image.ref.name": r.number()}
	var b bytes.Buffer
	files := append([]packed{
		{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", 0o644, index(object{}, []object{all})},
	}, blobs...)
	if err := writeTar(tar.NewWriter(&b), files, r.commit.time); err != nil {
		return err
	}
	return r.write(r.name()+"_"+r.number()+".oci.tar", b.Bytes())
}

// layer returns the files of an image, compressed, and the digest of the archive before
// its compression.
func (r *release) layer(p program) (compressed []byte, diff string, err error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	sum := sha256.New()
	t := tar.NewWriter(io.MultiWriter(z, sum))
	when := r.commit.time.UTC()
	for _, h := range []*tar.Header{
		{Name: r.name(), Mode: 0o755, Size: int64(len(p.content)), Typeflag: tar.TypeReg},
		{Name: "data/", Mode: 0o700, Uid: imageUser, Gid: imageUser, Typeflag: tar.TypeDir},
		{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir}, // SQLite sorts there
	} {
		h.ModTime = when
		if err := t.WriteHeader(h); err != nil {
			return nil, "", err
		}
		if h.Size > 0 {
			if _, err := t.Write(p.content); err != nil {
				return nil, "", err
			}
		}
	}
	if err := t.Close(); err != nil {
		return nil, "", err
	}
	if err := z.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), fmt.Sprintf("sha256:%x", sum.Sum(nil)), nil
}
