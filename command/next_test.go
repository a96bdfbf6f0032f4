package command

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNext(t *testing.T) {
	self := selfName()
	for _, tt := range []struct {
		p     program
		owner string
		want  string
	}{
		{program{}, "", "show 7k3#4"},
		{program{options: options{store: "a b.db"}}, "", "show 7k3#4 --store " + quoted("a b.db")},
		{program{options: options{store: "a.db"}, inherited: []string{"store"}}, "", "show 7k3#4"},
		{program{options: options{store: "a.db"}}, "alice", "show 7k3#4 --owner alice --store a.db"},
		{program{options: options{server: "https://think.example.com", store: "a.db"}, self: "alice"}, "alice", "show 7k3#4 --server https://think.example.com"},
	} {
		if got := tt.p.nextFor(tt.owner, "show", "7k3#4"); got != self+" "+tt.want {
			t.Errorf("got %s, want %s %s", got, self, tt.want)
		}
	}
}

func TestRunnable(t *testing.T) {
	self := selfName()
	for text, want := range map[string]string{
		"run sequent list for the ids of sessions": "run " + self + " list for the ids of sessions",
		"Run sequent demo, or `sequent show`":      "Run " + self + " demo, or `" + self + " show`",
		"sessions of sequent demo were left out":   "sessions of sequent demo were left out",
	} {
		if got := runnable(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// The way to the source is one that the go command takes, also from a folder of the module.
func TestInSource(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": ".", "a": "..", "a/b": "../.."} {
		t.Chdir(filepath.Join(root, filepath.FromSlash(dir)))
		if got := inSource("example.com/m"); got != want {
			t.Errorf("in %q: got %q, want %q", dir, got, want)
		}
		if got := inSource("example.com/other"); got != "" {
			t.Errorf("in %q: another module is at %q", dir, got)
		}
	}
}
