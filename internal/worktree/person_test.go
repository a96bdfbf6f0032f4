package worktree

import (
	"path/filepath"
	"testing"
)

func TestPerson(t *testing.T) {
	dir := temp(t)
	put(t, dir, map[string]string{
		"own/.git/HEAD":     "ref: refs/heads/main\n",
		"own/.git/config":   "[user]\n\tname = Ann\n[user \"x\"]\n\tname = Eve\n[USER]\n\tName = \"Ann B.\" ; last\n",
		"other/.git/HEAD":   "ref: refs/heads/main\n",
		"other/.git/config": "[user]\n\temail = a@example.com\n\tname =\n",
		"home/.gitconfig":   "[user]\n\tname = Bob\n",
	})
	global := []string{filepath.Join(dir, "none"), filepath.Join(dir, "home", ".gitconfig")}
	for sub, want := range map[string]string{"own": "Ann B.", "other": "Bob", "home": "Bob"} {
		if got := Person(filepath.Join(dir, sub), global...); got != want {
			t.Errorf("the person in %s is %q, want %q", sub, got, want)
		}
	}
	if got := Person(filepath.Join(dir, "other")); got != "" {
		t.Errorf("without a configuration of the user the person is %q", got)
	}
}
