package vault_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// hostile are names that lead out of the vault, name no note, or have another meaning on
// another system.
var hostile = []string{
	// not memory://, or nothing
	"", "a/b.md", "file:///etc/passwd", "memory://",
	// out of the vault
	"memory:///", "memory:///etc/passwd", "memory://%2Fetc%2Fpasswd", "memory://../secret", "memory://a/../../secret",
	"memory://a/..", "memory://%2e%2e/secret", "memory://.%2e/secret", "memory://..%2fsecret",
	"memory://%252e%252e./secret", "memory://./a", "memory://a//b", "memory://a/", `memory://..\secret`,
	"memory://..%5Csecret", "memory://..%C0%AFsecret",
	// with another meaning on Windows
	"memory://C:/secret", "memory://c:secret", `memory://\\host\share`, "memory://a:b", "memory://note.md:hidden",
	"memory://CON", "memory://nul.md", "memory://aux.x.y", "memory://com1/a", "memory://LPT²", "memory://CONIN$",
	"memory://a./b", "memory://a%20/b", "memory:// a",
	// invisible, or not text
	"memory://a\x00b", "memory://a%00.md", "memory://a%0Ab", "memory://a\x1b[31m", "memory://a%7Fb", "memory://a%C2%85b",
	"memory://a\u202Emd.exe", "memory://a%E2%80%AEdm", "memory://a\u2066b", "memory://\u200Fa", "memory://\uFEFFa",
	"memory://a\u2028b", "memory://a\xffb", "memory://a%FFb",
	// with characters that mean something in a URI or a shell
	"memory://*", "memory://a?b", "memory://a%3Fb", "memory://a#b", "memory://a%zz", "memory://a%2", "memory://<a>",
	`memory://"a"`, "memory://a|b",
	// hidden, without a name, or too long
	"memory://.hidden", "memory://.git/config", "memory://.sequent/lock", "memory://.obsidian/app", "memory://.md",
	"memory://a/.md", "memory://" + strings.Repeat("x", 300), "memory://" + strings.Repeat("x/", 600) + "a",
	"memory://" + strings.Repeat("語", 100),
}

// everything calls all methods with a URI, and returns their errors.
func everything(ctx context.Context, v *vault.Vault, uri vault.URI) map[string]error {
	change := func(n *vault.Note) error { n.Body += "changed"; return nil }
	return map[string]error{
		"Read":   second(v.Read(ctx, uri)),
		"Stat":   second(v.Stat(ctx, uri)),
		"Create": v.Create(ctx, &vault.Note{URI: uri, Body: "created"}),
		"Update": second(v.Update(ctx, uri, change)),
		"Delete": v.Delete(ctx, uri, nil),
		"Rename": v.Rename(ctx, uri, "memory://elsewhere"),
	}
}

func TestHostileURIs(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "vault")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	v := openIn(t, vault.Config{Dir: dir})
	put(t, outer, "secret.md", "secret")
	put(t, outer, "secret", "secret")
	put(t, dir, ".hidden.md", "secret")
	put(t, dir, ".git/config.md", "secret")
	before := tree(t, outer)
	for _, uri := range hostile {
		errs := everything(t.Context(), v, vault.URI(uri))
		_, errs["ParseURI"] = vault.ParseURI(uri)
		if path, ok := strings.CutPrefix(uri, "memory://"); ok && !strings.ContainsAny(path, "%#") {
			_, errs["PathURI"] = vault.PathURI(path)
		}
		for what, err := range errs {
			if sequent.CodeOf(err) != vault.CodeInvalidURI {
				t.Errorf("%s(%q): %v", what, uri, err)
			}
		}
		if u := vault.URI(uri); u.Path() != "" || u.Name() != "" {
			t.Errorf("%q has the path %q and the name %q", uri, u.Path(), u.Name())
		}
	}
	if after := tree(t, outer); after != before {
		t.Errorf("the files are now\n%s\nand were\n%s", after, before)
	}
}

func TestGoodURIs(t *testing.T) {
	for _, tt := range []struct{ uri, path, canonical string }{
		{"memory://a", "a.md", "memory://a.md"}, {"memory://a.md", "a.md", "memory://a.md"},
		{"memory://a.md.md", "a.md.md", "memory://a.md.md"}, {"memory://a.MD", "a.MD", "memory://a.MD"},
		{"MEMORY://a/b/c", "a/b/c.md", "memory://a/b/c.md"},
		{"memory://v1.2 notes", "v1.2 notes.md", "memory://v1.2%20notes.md"},
		{"memory://v1.2%20notes.md", "v1.2 notes.md", "memory://v1.2%20notes.md"},
		{"memory://日本語/メモ", "日本語/メモ.md", "memory://%E6%97%A5%E6%9C%AC%E8%AA%9E/%E3%83%A1%E3%83%A2.md"},
		{"memory://a%2520b", "a%20b.md", "memory://a%2520b.md"}, {"memory://100%25", "100%.md", "memory://100%25.md"},
		{"memory://c%23", "c#.md", "memory://c%23.md"}, {"memory://console", "console.md", "memory://console.md"},
		{"memory://com10", "com10.md", "memory://com10.md"},
		{"memory://__proto__/constructor", "__proto__/constructor.md", "memory://__proto__/constructor.md"},
		{"memory://...x", "", ""}, {"memory://a..b", "a..b.md", "memory://a..b.md"},
		{"memory://👩‍💻", "👩‍💻.md", "memory://%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB.md"},
	} {
		u, err := vault.ParseURI(tt.uri)
		if string(u) != tt.canonical || u.Path() != tt.path || (err != nil) != (tt.path == "") {
			t.Errorf("ParseURI(%q) = %q with the path %q, %v; want %q, %q", tt.uri, u, u.Path(), err, tt.canonical, tt.path)
		}
		if err == nil {
			if again, err := vault.PathURI(tt.path); again != u || err != nil {
				t.Errorf("PathURI(%q) = %q, %v", tt.path, again, err)
			}
		}
	}
}

// Symbolic links are not followed, whether they lead out of the vault or not.
func TestLinks(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "vault")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, outer, "secret.md", "secret")
	put(t, outer, "outside/note.md", "secret")
	put(t, dir, "real/note.md", "real")
	put(t, dir, "file.md/x.md", "in a folder that is called like a note")
	for link, to := range map[string]string{
		"out.md": "../secret.md", "absolute.md": filepath.Join(outer, "secret.md"), "in.md": "real/note.md",
		"absolute-in.md": filepath.Join(dir, "real", "note.md"), "dangling.md": "nowhere.md", "dangling-out.md": "../new.md",
		"self.md": "self.md", "chain.md": "out.md", "etc.md": "/etc/passwd", "outside": "../outside",
		"absolute-outside": filepath.Join(outer, "outside"), "inside": "real", "real/up": "..", "round": ".", "parent": "..",
	} {
		if err := os.Symlink(to, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			if runtime.GOOS == "windows" {
				t.Skipf("SKIP: links cannot be made here (%v); allow the user to make symbolic links", err)
			}
			t.Fatal(err)
		}
	}
	special := makeSpecial(t, dir)
	v := openIn(t, vault.Config{Dir: dir})
	put(t, dir, ".sequent/lock", "")
	before := tree(t, outer)
	uris := append([]string{
		"out", "absolute", "in", "absolute-in", "dangling", "dangling-out", "self", "chain", "etc",
		"outside/note", "outside/new", "absolute-outside/note", "absolute-outside/new", "inside/note", "inside/new",
		"real/up/real/note", "round/real/note", "round/new", "parent/secret", "parent/new", "parent/vault/real/note",
		"file", "real/note.md/x",
	}, special...)
	for _, name := range uris {
		uri := vault.URI("memory://" + name)
		for what, err := range everything(t.Context(), v, uri) {
			switch code := sequent.CodeOf(err); {
			case what == "Create" && code == vault.CodeExists:
			case code != vault.CodeNotANote:
				t.Errorf("%s(%s): %v", what, uri, err)
			}
			if err != nil && (strings.Contains(err.(*sequent.Error).Msg, outer) || strings.Contains(err.(*sequent.Error).Fix, outer)) {
				t.Errorf("%s(%s) tells the path: %v", what, uri, err)
			}
		}
	}
	for info, err := range v.Walk(t.Context(), "") {
		if name := info.URI.Path(); err != nil || name != "real/note.md" && name != "file.md/x.md" {
			t.Errorf("Walk yields %v, %v", info, err)
		}
	}
	for _, folder := range []string{"outside", "absolute-outside", "inside", "real/up", "round", "parent"} {
		for info, err := range v.Walk(t.Context(), folder) {
			if sequent.CodeOf(err) != vault.CodeNotANote {
				t.Errorf("in %s: %v, %v", folder, info, err)
			}
		}
		v.Files(t.Context(), folder, ".md", func(err error) {
			if sequent.CodeOf(err) != vault.CodeNotANote {
				t.Errorf("Files(%s): %v", folder, err)
			}
		})
	}
	if after := tree(t, outer); after != before {
		t.Errorf("the files are now\n%s\nand were\n%s", after, before)
	}
}

// A folder for locks that is a link is refused before anything is written.
func TestHostileState(t *testing.T) {
	for _, link := range []string{".sequent", ".sequent/lock", ".sequent/tmp"} {
		outer, dir := t.TempDir(), t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outer, filepath.Join(dir, link)); err != nil {
			t.Skipf("SKIP: links cannot be made here (%v)", err)
		}
		v := openIn(t, vault.Config{Dir: dir})
		if err := v.Create(t.Context(), &vault.Note{URI: "memory://a"}); err == nil {
			t.Errorf("%s is followed", link)
		}
		if got := tree(t, outer); got != "" {
			t.Errorf("%s: %s", link, got)
		}
	}
}

// tree returns all files below a folder with their contents, except locks.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		switch {
		case e.IsDir() && (strings.HasSuffix(name, ".sequent") || strings.HasSuffix(name, ".sequent/tmp")), name == ".", strings.HasSuffix(name, ".sequent/lock"):
		case e.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.WriteString(name + ": " + string(data) + "\n")
		default:
			b.WriteString(name + " " + e.Type().String() + "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
