package token

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestParse(t *testing.T) {
	t.Parallel()
	a, b := Hash("a"), Hash("b")
	tests := []struct {
		name, file string
		wantErr    string // in the error; "" for none
		wantA      string // whose token a is
	}{
		{"empty", "", "", ""},
		{"comments only", "# nobody\n\n  \n", "", ""},
		{"one", "alice:" + a, "", "alice"},
		{"two", "bob:" + b + "\nalice:" + a + "\n", "", "alice"},
		{"spaces and CRLF", "  alice : " + a + " \r\n", "", "alice"},
		{"byte order mark", "\xef\xbb\xbfalice:" + a, "", "alice"},
		{"upper case", "alice:" + strings.ToUpper(a), "", "alice"},
		{"colon in the subject", "urn:user:alice:" + a, "", "urn:user:alice"},
		{"space in the subject", "Alice B:" + a, "", "Alice B"},
		{"several tokens", "alice:" + b + "\nalice:" + a, "", "alice"},
		{"the same line twice", "alice:" + a + "\nalice:" + a, "", "alice"},
		{"one token of two", "alice:" + a + "\nbob:" + a, "line 2 gives", ""},
		{"no colon", "# x\nsecret", "line 2 has no colon", ""},
		{"token for hash", "alice:secret", "line 1: what follows", ""},
		{"not hexadecimal", "alice:" + strings.Repeat("secret!!", 8), "not hexadecimal", ""},
		{"no subject", ":" + a, "must not be empty", ""},
		{"control character", "al\x00ice:" + a, "printable", ""},
		{"right-to-left mark", "al\u202eice:" + a, "printable", ""},
		{"not UTF-8", "al\xffice:" + a, "printable", ""},
		{"long subject", strings.Repeat("é", 129) + ":" + a, "128", ""},
		{"longest subject", strings.Repeat("é", 128) + ":" + a, "", strings.Repeat("é", 128)},
		{"huge", strings.Repeat("#", maxFile+1), "larger", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			entries, err := parse(strings.NewReader(tt.file))
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Fatalf("parse = %v, want an error with %q", err, tt.wantErr)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q tells what is in the file", err)
			}
			if got := find(entries, "a"); got != tt.wantA {
				t.Errorf("token a is %q's, want %q", got, tt.wantA)
			}
			for _, not := range []string{"", "A", "aa", a} {
				if got := find(entries, not); got != "" {
					t.Errorf("token %q is %q's, want nobody's", not, got)
				}
			}
		})
	}
}

func TestMint(t *testing.T) {
	t.Parallel()
	one, line, err := Mint("alice")
	two, _, _ := Mint("alice")
	if err != nil || one == two || len(one) < 30 || strings.Contains(line, one) {
		t.Errorf("Mint = %q, %q, %v, then %q; want two tokens, and a line without", one, line, err, two)
	}
	entries, err := parse(strings.NewReader(line))
	if err != nil || find(entries, one) != "alice" || find(entries, two) != "" {
		t.Errorf("line %q: %v; want it to know its token and no other", line, err)
	}
	for _, subject := range []string{"", " ", "a\nb", "#a", strings.Repeat("a", 129)} {
		if _, _, err := Mint(subject); err == nil {
			t.Errorf("Mint(%q) = nil, want an error", subject)
		}
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	alice, err := Add(path, "alice")
	if err != nil {
		t.Fatal(err)
	}
	if state, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && state.Mode().Perm() != 0o600 {
		t.Errorf("the new file is %v, %v; want mode 0600", state.Mode(), err)
	}
	data, _ := os.ReadFile(path)
	write(t, path, string(bytes.TrimSuffix(data, []byte("\n")))) // as some editors leave it
	bob, err := Add(path, "bob")
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, Config{Path: path})
	for token, want := range map[string]string{alice: "alice", bob: "bob", "x": ""} {
		if got, err := f.Subject(t.Context(), token); got != want || err != nil {
			t.Errorf("Subject = %q, %v; want %q", got, err, want)
		}
	}
	write(t, path, "broken")
	if _, err := Add(path, "carol"); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("Add to a broken file = %v, want an error that names the line", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "broken" {
		t.Errorf("the broken file is %q now, want it untouched", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := Open(Config{Path: filepath.Join(dir, "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open of no file = %v, want %v", err, fs.ErrNotExist)
	}
	if _, err := Open(Config{Path: dir}); err == nil {
		t.Error("Open of a directory = nil, want an error")
	}
	if runtime.GOOS == "windows" {
		return
	}
	for mode, fine := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o660: false, 0o602: false} {
		path := filepath.Join(dir, "m")
		write(t, path, "alice:"+Hash("a"))
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Config{Path: path}); (err == nil) != fine {
			t.Errorf("Open of a file of mode %#o = %v, want it fine: %v", mode, err, fine)
		}
		_ = os.Remove(path)
	}
}

// TestReload changes the file in the ways in which people do.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "tokens")
		var log bytes.Buffer
		a, b := "alice:"+Hash("a"), "alice:"+Hash("b")
		write(t, path, a)
		f := open(t, Config{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		want := func(what, token, want string) {
			t.Helper()
			if got, err := f.Subject(t.Context(), token); got != want || err != nil {
				t.Errorf("%s: Subject(%q) = %q, %v; want %q", what, token, got, err, want)
			}
		}
		want("at first", "a", "alice")
		write(t, path, b) // of the same size, and for a coarse clock of the same time
		want("within the interval", "a", "alice")
		time.Sleep(time.Second)
		want("a token replaced", "a", "")
		want("a token replaced", "b", "alice")

		write(t, path, a+"\nbroken secret")
		time.Sleep(time.Second)
		want("a broken file", "b", "alice")
		time.Sleep(time.Second)
		want("a broken file", "a", "")
		if got := log.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "line 2") || strings.Contains(got, "secret") {
			t.Errorf("log = %q, want one error that names the line and quotes nothing", got)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		want("no file", "b", "alice")

		next := filepath.Join(dir, "next")
		write(t, next, a)
		if err := os.Rename(next, path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		want("another file in its place", "a", "alice")
		if got := log.String(); !strings.Contains(got, "can be used again") {
			t.Errorf("log = %q, want it to say that the file is right again", got)
		}
		write(t, path, "")
		time.Sleep(time.Second)
		want("an empty file", "a", "")
	})
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	write(t, path, "alice:"+Hash("a"))
	f := open(t, Config{Path: path, Interval: time.Nanosecond})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if got, err := f.Subject(t.Context(), "a"); got != "alice" || err != nil {
					t.Errorf("Subject = %q, %v; want alice", got, err)
				}
			}
		})
	}
	wg.Wait()
}

func open(t *testing.T, cfg Config) *File {
	t.Helper()
	f, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}
