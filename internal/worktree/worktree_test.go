package worktree

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

const (
	one = "1111111111111111111111111111111111111111"
	two = "2222222222222222222222222222222222222222"
)

// put writes files below a directory, which it creates.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func temp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestHead(t *testing.T) {
	for name, test := range map[string]struct {
		files          map[string]string
		branch, commit string
	}{
		"loose":            {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": one + "\n"}, "main", one},
		"slashes":          {map[string]string{"HEAD": "ref: refs/heads/a/b\n", "refs/heads/a/b": one + "\n"}, "a/b", one},
		"packed":           {map[string]string{"HEAD": "ref: refs/heads/main\n", "packed-refs": "# pack-refs with: peeled\n" + two + " refs/heads/m\n" + one + " refs/heads/main\n^" + two + "\n"}, "main", one},
		"loose and packed": {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": one + "\n", "packed-refs": two + " refs/heads/main\n"}, "main", one},
		"symbolic":         {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "ref: refs/heads/trunk\n", "refs/heads/trunk": one}, "main", one},
		"circular":         {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "ref: refs/heads/main\n"}, "main", ""},
		"detached":         {map[string]string{"HEAD": one + "\n"}, "", one},
		"sha256":           {map[string]string{"HEAD": one + one[:24] + "\n"}, "", one + one[:24]},
		"without a commit": {map[string]string{"HEAD": "ref: refs/heads/main\n"}, "main", ""},
		"reftable":         {map[string]string{"HEAD": "ref: refs/heads/.invalid\n"}, "", ""},
		"outside":          {map[string]string{"HEAD": "ref: refs/../../../secret\n", "../../secret": one}, "", ""},
		"no reference":     {map[string]string{"HEAD": "ref: secret\n", "secret": one}, "", ""},
		"no commit":        {map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": "-----BEGIN KEY-----"}, "main", ""},
		"broken":           {map[string]string{"HEAD": "\x00\xff"}, "", ""},
		"empty":            {map[string]string{"HEAD": ""}, "", ""},
	} {
		dir := temp(t)
		put(t, filepath.Join(dir, "w", ".git"), test.files)
		tree := Find(filepath.Join(dir, "w"))
		if tree == nil {
			t.Errorf("%s: no work tree", name)
			continue
		}
		for range 2 { // read, and as it is remembered
			if branch, commit := tree.Head(); branch != test.branch || commit != test.commit {
				t.Errorf("%s: got %q at %q, want %q at %q", name, branch, commit, test.branch, test.commit)
			}
		}
	}
}

// A change of the repository is noticed.
func TestHeadChanges(t *testing.T) {
	dir := temp(t)
	git := filepath.Join(dir, ".git")
	put(t, git, map[string]string{"HEAD": "ref: refs/heads/main\n"})
	tree := Find(dir)
	for _, step := range []struct{ name, text, branch, commit string }{
		{"HEAD", "ref: refs/heads/main\n", "main", ""},
		{"packed-refs", two + " refs/heads/main\n", "main", two},
		{"refs/heads/main", one + "\n", "main", one},
		{"refs/heads/other", two + "\n", "main", one},
		{"HEAD", "ref: refs/heads/other\n", "other", two},
		{"HEAD", one + "\n", "", one},
	} {
		put(t, git, map[string]string{step.name + ".lock": step.text}) // as git writes
		if err := os.Rename(filepath.Join(git, step.name+".lock"), filepath.Join(git, step.name)); err != nil {
			t.Fatal(err)
		}
		if branch, commit := tree.Head(); branch != step.branch || commit != step.commit {
			t.Errorf("after %s = %q: got %q at %q, want %q at %q", step.name, step.text, branch, commit, step.branch, step.commit)
		}
	}
	if err := os.RemoveAll(git); err != nil {
		t.Fatal(err)
	}
	if branch, commit := tree.Head(); branch != "" || commit != "" {
		t.Errorf("after the repository was removed: got %q at %q", branch, commit)
	}
}

func TestFind(t *testing.T) {
	dir := temp(t)
	head := "ref: refs/heads/main\n"
	put(t, dir, map[string]string{
		"main/.git/HEAD":                     head,
		"main/.git/refs/heads/main":          one,
		"main/.git/refs/heads/side":          two,
		"main/.git/worktrees/side/HEAD":      "ref: refs/heads/side\n",
		"main/.git/worktrees/side/commondir": "../..\n",
		"main/deep/down/file":                "",
		"main/sub/.git":                      "gitdir: ../.git/modules/sub\n",
		"main/.git/modules/sub/HEAD":         two,
		"main/.git/modules/sub/config":       "[remote \"origin\"]\n\turl = https://example.com/sub\n",
		"main/broken/.git/config":            "[core]\n",
		"side/.git":                          "gitdir: " + filepath.Join(dir, "main/.git/worktrees/side") + "\n",
		"lost/.git":                          "gitdir: /nosuch/repository\n",
		"odd/.git":                           "what?",
		"none/file":                          "",
		"bare/HEAD":                          head,
	})
	for from, want := range map[string][3]string{
		"main":           {filepath.Join(dir, "main"), "main", one},
		"main/deep/down": {filepath.Join(dir, "main"), "main", one},
		"main/nosuch":    {filepath.Join(dir, "main"), "main", one},
		"main/broken":    {filepath.Join(dir, "main"), "main", one}, // no repository, as git sees it
		"main/sub":       {"https://example.com/sub", "", two},
		"side":           {filepath.Join(dir, "main"), "side", two},
		"lost":           {},
		"odd":            {},
		"none":           {},
		"bare":           {},
	} {
		var got [3]string
		if tree := Find(filepath.Join(dir, from)); tree != nil {
			got[0] = tree.Project()
			got[1], got[2] = tree.Head()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", from, got, want)
		}
	}
}

func TestProject(t *testing.T) {
	dir := temp(t)
	for config, want := range map[string]string{
		"": dir,
		"[remote \"upstream\"]\nurl = https://example.com/a\n":                               dir,
		"[remote \"origin\"]\nurl = https://example.com/a.git\n":                             "https://example.com/a.git",
		"[core]\n\tbare = false\n[remote \"origin\"]\n\tfetch = +x\n\tURL=https://h/a ; b\n": "https://h/a",
		"[REMOTE \"origin\"] url = \"https://h/a;b\" # c\n[remote \"x\"]\nurl = y\n":         "https://h/a;b",
		"[remote \"Origin\"]\nurl = https://h/a\n":                                           dir,
		"[remote \"origin\"]\r\n\turl = https://h/\\\r\na\r\n":                               "https://h/a",
		"[remote \"origin\"]\nurl = https://h/1\nurl = https://h/2\n":                        "https://h/1",
		"[remote \"origin\"]\nurl = https://[::1]:80/a":                                      "https://[::1]:80/a",
		"[remote \"origin\"]\nurl = git@github.com:a/b.git":                                  "git@github.com:a/b.git",
		"[remote \"origin\"]\nurl = /srv/git/a":                                              "/srv/git/a",
		"[remote \"origin\"]\nurl = ../a":                                                    filepath.Join(filepath.Dir(dir), "a"),
		"[remote \"origin\"]\nurl = ext::sh -c s3cret":                                       dir,
		"[remote \"origin\"]\nurl = \\\\\\\\server\\\\share\n":                               `\\server\share`,
		"[remote \"origin\"":              dir,
		"[remote \"origin\\":              dir,
		"[remote \"origin\"]\nurl":        dir,
		"[remote \"origin\"]\nurl =\n":    dir,
		"[remote \"origin\"]\nurl = \"\\": `\`,
	} {
		put(t, dir, map[string]string{".git/HEAD": one, ".git/config": config})
		got := Find(dir).Project()
		if got != want {
			t.Errorf("%q: got %q, want %q", config, got, want)
		}
	}
}

// A pipe in place of a file does not block.
func TestPipe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no named pipes in directories")
	}
	dir := temp(t)
	put(t, dir, map[string]string{".git/HEAD": "ref: refs/heads/main"})
	for _, name := range []string{"config", "packed-refs", "refs/heads/main", "commondir"} {
		makePipe(t, filepath.Join(dir, ".git", filepath.FromSlash(name)))
	}
	tree := Find(dir)
	if got := tree.Project(); got != dir {
		t.Errorf("got the project %q", got)
	}
	if branch, commit := tree.Head(); branch != "main" || commit != "" {
		t.Errorf("got %q at %q", branch, commit)
	}
}

func FuzzOrigin(f *testing.F) {
	f.Add("[remote \"origin\"]\n\turl = https://alice:secret@example.com/a\n")
	f.Add("[remote \"ori\\\"gin\"] url = \"a\\\nb\" # c")
	f.Fuzz(func(t *testing.T, config string) {
		if url := origin(config); len(url) > len(config) {
			t.Errorf("%q: got %q", config, url)
		}
	})
}
