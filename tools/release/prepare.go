package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent/internal/gendocs"
)

// A commit is what is released.
type commit struct {
	id   string
	time time.Time
}

// A module is one of the repository that is released.
type module struct {
	path string // as programs import it
	dir  string // in the repository, with slashes; "." is the root
}

// tag returns the name that a version of the module has in the repository.
func (m module) tag(version string) string {
	return path.Join(m.dir, version)
}

// cloneCommit makes a clone of the commit that is checked out.
func (r *release) cloneCommit(ctx context.Context) error {
	changed, err := output(ctx, r.repository, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		return fmt.Errorf("there are uncommitted changes; commit or stash them:\n%s", changed)
	}
	head, err := output(ctx, r.repository, nil, "git", "log", "-1", "--format=%H %cI")
	if err != nil {
		return err
	}
	id, when, _ := strings.Cut(strings.TrimSpace(string(head)), " ")
	r.commit.id = id
	if r.commit.time, err = time.Parse(time.RFC3339, when); err != nil {
		return err
	}
	repository, err := filepath.Abs(r.repository)
	if err != nil {
		return err
	}
	r.clone = filepath.Join(r.work, "clone")
	if _, err := output(ctx, r.work, nil, "git", "clone", "--quiet", "--no-checkout", repository, r.clone); err != nil {
		return err
	}
	_, err = output(ctx, r.clone, nil, "git", "-c", "advice.detachedHead=false", "checkout", "--quiet", id)
	return err
}

// prepare names the version where the repository has to name it, writes the patch
// that does so, and commits it in the clone. The times of the commit are those of
// the one that is released, so that what is packed from it is always the same.
func (r *release) prepare(ctx context.Context) error {
	if err := r.findModules(ctx); err != nil {
		return err
	}
	root := r.modules[0]
	for _, m := range r.modules[1:] {
		if _, err := output(ctx, filepath.Join(r.clone, m.dir), nil, "go", "mod", "edit", "-require="+root.path+"@"+r.version); err != nil {
			return err
		}
	}
	if err := r.collectChanges(); err != nil {
		return err
	}
	if err := gendocs.Publish(r.clone, r.version); err != nil {
		return err
	}
	if _, err := output(ctx, r.clone, nil, "git", "add", "--all"); err != nil {
		return err
	}
	if _, err := output(ctx, r.clone, nil, "git", "diff", "--cached", "--quiet", "HEAD"); err == nil {
		return r.tag(ctx) // the commit is one that an earlier run prepared
	}
	r.patched = true
	patch, err := output(ctx, r.clone, nil, "git", "diff", "--cached", "--binary", "--no-ext-diff", "--no-color", "HEAD")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "release.patch"), patch, 0o644); err != nil {
		return err
	}
	when := r.commit.time.Format(time.RFC3339)
	_, err = output(ctx, r.clone, []string{"GIT_AUTHOR_DATE=" + when, "GIT_COMMITTER_DATE=" + when},
		"git", "-c", "user.name=release", "-c", "user.email=release@localhost", "commit", "--quiet", "--message="+r.version)
	if err != nil {
		return err
	}
	return r.tag(ctx)
}

// tag makes sure that the version is a tag of the clone's commit, because the go command
// puts the tag of the commit into a program. A tag of another commit is an error.
func (r *release) tag(ctx context.Context) error {
	tagged, err := output(ctx, r.clone, nil, "git", "rev-parse", "--quiet", "--verify", "refs/tags/"+r.version+"^{commit}")
	if err != nil {
		_, err = output(ctx, r.clone, nil, "git", "tag", r.version)
		return err
	}
	head, err := output(ctx, r.clone, nil, "git", "rev-parse", "HEAD")
	if err == nil && !bytes.Equal(head, tagged) {
		err = fmt.Errorf("%s is a tag of the commit %.12s already; pass another version, or check out the tag", r.version, tagged)
	}
	return err
}

// findModules finds the root module, its command and the adapters.
func (r *release) findModules(ctx context.Context) error {
	dirs := []string{"."}
	adapters, err := filepath.Glob(filepath.Join(r.clone, "adapters", "*", "go.mod"))
	if err != nil {
		return err
	}
	for _, file := range adapters {
		dirs = append(dirs, path.Join("adapters", filepath.Base(filepath.Dir(file))))
	}
	for _, dir := range dirs {
		edit, err := output(ctx, filepath.Join(r.clone, dir), nil, "go", "mod", "edit", "-json")
		if err != nil {
			return err
		}
		var file struct{ Module struct{ Path string } }
		if err := json.Unmarshal(edit, &file); err != nil {
			return err
		}
		r.modules = append(r.modules, module{path: file.Module.Path, dir: dir})
	}
	commands, err := filepath.Glob(filepath.Join(r.clone, "cmd", "*"))
	if err != nil {
		return err
	}
	if len(commands) != 1 {
		return fmt.Errorf("there are %d commands below cmd, want 1", len(commands))
	}
	r.command = path.Join(r.modules[0].path, "cmd", filepath.Base(commands[0]))
	return nil
}

// kinds of changes, in the order in which a release has them. The file of a
// change begins with one of them.
var kinds = []string{"Security", "Added", "Changed", "Removed", "Fixed"}

// collectChanges moves the files of changelog/unreleased into CHANGELOG.md, and
// writes CHANGES.md.
func (r *release) collectChanges() error {
	files, err := filepath.Glob(filepath.Join(r.clone, "changelog", "unreleased", "*.md"))
	if err != nil {
		return err
	}
	byKind := make(map[string][]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, change := range splitChanges(string(text)) {
			kind, change, _ := strings.Cut(change, ":")
			if !slices.Contains(kinds, kind) {
				return fmt.Errorf("%s begins with %q; begin with one of %s and a colon", filepath.Base(file), kind, strings.Join(kinds, ", "))
			}
			byKind[kind] = append(byKind[kind], "- "+strings.ReplaceAll(strings.TrimSpace(change), "\n", "\n  ")+"\n")
		}
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	log := filepath.Join(r.clone, "CHANGELOG.md")
	old, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if section, ok := sectionOf(string(old), r.version); ok && len(files) == 0 {
		return os.WriteFile(filepath.Join(r.out, "CHANGES.md"), []byte(section), 0o644)
	}
	var section strings.Builder
	fmt.Fprintf(&section, "## %s (%s)\n", r.version, r.commit.time.Format(time.DateOnly))
	for _, kind := range kinds {
		if list := byKind[kind]; len(list) > 0 {
			fmt.Fprintf(&section, "\n### %s\n\n%s", kind, strings.Join(list, ""))
		}
	}
	if err := os.WriteFile(filepath.Join(r.out, "CHANGES.md"), []byte(section.String()), 0o644); err != nil {
		return err
	}
	const title = "# Changelog\n"
	text := title + "\n" + section.String() + string(bytes.TrimPrefix(old, []byte(title)))
	return os.WriteFile(log, []byte(text), 0o644)
}

// sectionOf returns the section of a changelog for a version.
func sectionOf(changelog, version string) (string, bool) {
	_, section, ok := strings.Cut("\n"+changelog, "\n## "+version+" ")
	section, _, _ = strings.Cut(section, "\n\n## ")
	return "## " + version + " " + strings.TrimRight(section, "\n") + "\n", ok
}

// splitChanges returns the changes of a file. Each paragraph that begins with a
// kind begins another one.
func splitChanges(text string) []string {
	var changes []string
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		kind, _, _ := strings.Cut(paragraph, ":")
		if len(changes) > 0 && !slices.Contains(kinds, kind) {
			changes[len(changes)-1] += "\n\n" + paragraph
		} else {
			changes = append(changes, paragraph)
		}
	}
	return changes
}

// output runs a program in a directory, with more environment, and returns what
// it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
