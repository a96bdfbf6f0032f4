package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
		{program{options: options{server: "https://think.example.com#key=x"}, self: "alice"}, "alice", "show 7k3#4 --server https://think.example.com"},
	} {
		if got := tt.p.nextFor(tt.owner, "show", "7k3#4"); got != self+" "+tt.want {
			t.Errorf("got %s, want %s %s", got, self, tt.want)
		}
	}
	for text, want := range map[string]string{
		"run sequent list for the ids of sessions": "run " + self + " list for the ids of sessions",
		"Run sequent demo, or `sequent show`":      "Run " + self + " demo, or `" + self + " show`",
		"sessions of sequent demo were left out":   "sessions of sequent demo were left out",
	} {
		if got := runnable(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	// The way to the source is one that the go command takes, also from a folder of the module.
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module example.com/m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": ".", "a": "..", "a/b": "../.."} {
		t.Chdir(filepath.Join(root, filepath.FromSlash(dir)))
		if got, other := inSource("example.com/m"), inSource("example.com/other"); got != want || other != "" {
			t.Errorf("in %q: got %q, want %q; another module is at %q", dir, got, want, other)
		}
	}
}

// A shell passes a quoted word on as it is.
func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"": `""`, `C:\bin\sequent.exe`: `C:\bin\sequent.exe`, `C:\Program Files\x.exe`: `"C:\Program Files\x.exe"`,
		`C:\my dir\`: `"C:\my dir\\"`, "$(calc)": "'$(calc)'", "a`b": "'a`b'", "%PATH%": "'%PATH%'", "it's $1": "'it''s $1'",
		"\u2019$x": "'\u2019\u2019$x'", "a,b": `"a,b"`, "a&b": `"a&b"`,
	} {
		if got := quotedForWindows(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("asks sh")
	}
	for _, word := range []string{"", "a", "a b", "$(touch x)", "`id`", `a\b`, `a"b`, "it's", "~", "#1", "7k3#4", "a!b", "a\nb", "*", "-x", "=x", "é"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quoted(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("sh makes %q of %s: %v", out, quoted(word), err)
		}
	}
}
