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
	a, b := hashOf("a"), hashOf("b")
	tests := []struct {
		name, file string
		wantErr    string // a part of the error; "" for none
		wantA      string // subject of token a
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
		{"one token of two", "alice:" + a + "\nbob:" + a, "line 2 assigns", ""},
		{"no colon", "# x\nsecret", "line 2: no SHA-256 hash", ""},
		{"token instead of a hash", "alice:secret", "line 1: no SHA-256 hash", ""},
		{"not hexadecimal", "alice:" + strings.Repeat("secret!!", 8), "line 1: no SHA-256 hash", ""},
		{"no subject", ":" + a, "subject is empty", ""},
		{"control character", "al\x00ice:" + a, "unprintable", ""},
		{"right-to-left mark", "al\u202eice:" + a, "unprintable", ""},
		{"not UTF-8", "al\xffice:" + a, "unprintable", ""},
		{"long subject", strings.Repeat("é", 129) + ":" + a, "128", ""},
		{"longest subject", strings.Repeat("é", 128) + ":" + a, "", strings.Repeat("é", 128)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			entries, err := parse([]byte(tt.file))
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Fatalf("parse = %v, want an error with %q", err, tt.wantErr)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q quotes the file", err)
			}
			if got := found(entries, "a"); got != tt.wantA {
				t.Errorf("find(a) = %q, want %q", got, tt.wantA)
			}
			for _, not := range []string{"", "A", "aa", a} {
				if got := found(entries, not); got != "" {
					t.Errorf("find(%q) = %q, want none", not, got)
				}
			}
		})
	}
}

// found returns the subject of a token; empty for one that is not among the entries.
func found(entries []entry, token string) string {
	if e := find(entries, token); e != nil {
		return e.Subject
	}
	return ""
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	one, line, err := generate(Info{Subject: "alice"})
	two, _, _ := generate(Info{Subject: "alice"})
	if err != nil || one == two || len(one) < 30 || strings.Contains(line, one) {
		t.Errorf("generate = %q, %q, %v, then %q; want two different tokens and a line without the token", one, line, err, two)
	}
	entries, err := parse([]byte(line))
	if err != nil || found(entries, one) != "alice" || found(entries, two) != "" {
		t.Errorf("parse(%q) = %v; want an entry that matches only its token", line, err)
	}
	for _, subject := range []string{"", " ", "a\nb", "#a", strings.Repeat("a", 129)} {
		if _, _, err := generate(Info{Subject: subject}); err == nil {
			t.Errorf("generate(%q) = nil, want an error", subject)
		}
	}
}

func TestAdd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	alice, _, err := Add(path, Info{Subject: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	if state, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && state.Mode().Perm() != 0o600 {
		t.Errorf("the new file is %v, %v; want mode 0600", state.Mode(), err)
	}
	data, _ := os.ReadFile(path)
	write(t, path, string(bytes.TrimSuffix(data, []byte("\n")))) // as some editors save it
	bob, _, err := Add(path, Info{Subject: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	f := open(t, Config{Path: path})
	for token, want := range map[string]string{alice: "alice", bob: "bob", "x": ""} {
		if got, err := subjectOf(t, f, token); got != want || err != nil {
			t.Errorf("Subject = %q, %v; want %q", got, err, want)
		}
	}
	write(t, path, "broken")
	if _, _, err := Add(path, Info{Subject: "carol"}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("Add to a malformed file = %v, want an error with the line number", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "broken" {
		t.Errorf("the malformed file is %q now, want it unchanged", got)
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
	huge := filepath.Join(dir, "huge")
	write(t, huge, strings.Repeat("#", maxFile+1))
	if _, err := Open(Config{Path: huge}); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("Open of a file of more than a MiB = %v, want an error", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: true, 0o644: false, 0o660: false, 0o602: false} {
		path := filepath.Join(dir, "m")
		write(t, path, "alice:"+hashOf("a"))
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Config{Path: path}); (err == nil) != ok {
			t.Errorf("Open of a file of mode %#o = %v, want success: %v", mode, err, ok)
		}
		_ = os.Remove(path)
	}
}

// TestReload changes the file in the ways that editors and deployments do.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(dir, "tokens")
		var log bytes.Buffer
		a, b := "alice:"+hashOf("a"), "alice:"+hashOf("b")
		write(t, path, a)
		f := open(t, Config{Path: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		want := func(what, token, want string) {
			t.Helper()
			if got, err := subjectOf(t, f, token); got != want || err != nil {
				t.Errorf("%s: Subject(%q) = %q, %v; want %q", what, token, got, err, want)
			}
		}
		want("at first", "a", "alice")
		write(t, path, b) // same size and, with a coarse clock, same modification time
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
			t.Errorf("log = %q, want one error with the line number and no quote", got)
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
		if got := log.String(); !strings.Contains(got, "reloaded the token file") {
			t.Errorf("log = %q, want a message that the file was reloaded", got)
		}
		write(t, path, "")
		time.Sleep(time.Second)
		want("an empty file", "a", "")
	})
}

// Requests that read the file again do not disturb each other, which the race detector shows.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	write(t, path, "alice:"+hashOf("a"))
	f := open(t, Config{Path: path})
	f.interval = 0
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got, err := subjectOf(t, f, "a"); got != "alice" || err != nil {
				t.Errorf("Subject = %q, %v; want alice", got, err)
			}
			if _, err := f.Until(t.Context(), ID("a"), time.Time{}); err != nil {
				t.Error(err)
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
