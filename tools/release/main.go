// Command release builds everything that a release has, without publishing
// anything.
//
//	go run -C tools ./release -version v0.1.0 [-out ../dist/v0.1.0]
//
// It works on a clone of the commit that is checked out, so uncommitted changes
// are an error. In the clone every adapter requires the version of the root
// module that is released, the pages say how to install it, and the files of
// changelog/unreleased become a section of CHANGELOG.md; the difference to the
// commit is release.patch. The directory then gets
//
//	npm/          npm packages: a launcher, and the program for each system
//	*.tar.gz *.zip an archive of the program for each system
//	*.mcpb        a bundle of the program for each system, for Claude Desktop
//	*.oci.tar     an image for containers, for each architecture of Linux
//	*.rb          a Homebrew formula
//	server.json   the entry for the MCP registry
//	install.*     the scripts of packaging/
//	SHA256SUMS    checksums of all these files
//	CHANGES.md    what is new, for the release's page
//	release.patch what to commit before tagging
//
// Two runs for one commit with one version of Go write the same bytes. Programs are
// built in the clone, from a tag, so that they contain version, commit and time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// systems are those that a release has the command for.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	var r release
	flag.StringVar(&r.version, "version", "", "version to release, such as v0.1.0")
	flag.StringVar(&r.out, "out", "", "directory to write, which must not exist (default dist/VERSION)")
	flag.StringVar(&r.repository, "C", "..", "repository to release")
	flag.Parse()
	r.systems, r.log = systems, os.Stdout
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

// A release is what is asked for, and what run finds out.
type release struct {
	version    string
	out        string   // where the result goes
	repository string   // the work tree of what is released
	systems    []string // GOOS/GOARCH
	log        io.Writer

	commit   commit
	work     string // a temporary directory
	clone    string // the repository at the commit, in work
	modules  []module
	command  string // import path of the command
	patched  bool   // the commit has to be changed before it is tagged
	programs []program
	bundles  map[string]string // checksums of bundles, by their file names
}

// name returns the name of the program.
func (r *release) name() string { return path.Base(r.command) }

// number returns the version as package managers write it, without the v.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

// Major versions above 1 would need a module path that ends in /v2.
var versionForm = regexp.MustCompile(`^v[01]\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func (r *release) run(ctx context.Context) error {
	if !versionForm.MatchString(r.version) {
		return fmt.Errorf("version %q is not of the form v0.1.0; pass -version", r.version)
	}
	if r.out == "" {
		r.out = filepath.Join(r.repository, "dist", r.version)
	}
	var err error
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	if _, err := os.Stat(r.out); err == nil {
		return fmt.Errorf("%s exists; remove it, or pass another -out", r.out)
	}
	if r.work, err = os.MkdirTemp("", "release"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"clone the commit", r.cloneCommit},
		{"name the version", r.prepare},
		{"build the programs", r.buildPrograms},
		{"write the archives", r.writeArchives},
		{"write the npm packages", r.writeNPM},
		{"write the bundles", r.writeBundles},
		{"write the image", r.writeImage},
		{"write the descriptions", r.writeDescriptions},
		{"write the checksums", r.writeSums},
	} {
		fmt.Fprintln(r.log, "==", step.name)
		if err := step.do(ctx); err != nil {
			_ = os.RemoveAll(r.out) // it would be in the way of the next attempt
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return r.report()
}

// report says what there is, and how it would be published.
func (r *release) report() error {
	files, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.log, "\n%s has\n", r.out)
	for _, f := range files {
		fmt.Fprintln(r.log, "  "+f.Name())
	}
	fmt.Fprint(r.log, "\nNothing is published. To publish it:\n\n")
	if r.patched {
		fmt.Fprintf(r.log, "  git apply --index %s && git commit -m %q\n", filepath.Join(r.out, "release.patch"), "release "+r.version)
	}
	var tags []string
	for _, m := range r.modules {
		tags = append(tags, m.tag(r.version))
		fmt.Fprintf(r.log, "  git tag %s\n", m.tag(r.version))
	}
	fmt.Fprintf(r.log, "  git push --atomic origin HEAD %s\n\nThe tag starts .github/workflows/release.yml, which signs and publishes.\n", strings.Join(tags, " "))
	return nil
}
