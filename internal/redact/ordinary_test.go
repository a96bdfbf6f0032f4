package redact_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lookAlikes are texts that resemble secrets.
var lookAlikes = []string{
	"The session 550e8400-e29b-41d4-a716-446655440000 began.", "Commit 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12 broke it.",
	"image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA…",
	"We test the password reset flow.", "The token expired: ask for a new one.", "The column api_key is text, token is not null.", "It is v1.26.0-rc.1 now.",
	"Session 7k3m2p9x4q1z is the latest.", "Password: at least 12 characters.", "token: string", "secret := rand.Text()", "password = os.Getenv(\"PASSWORD\")",
	"Pass --token=TOKEN or SEQUENT_TOKEN=$TOKEN.", "max_tokens: 4096, token = 512, tokens=100000", "https://host:8080/@x and ssh://git@host/x", "secret: see docs/sign-in.md",
	"postgres://user:<password>@host/db or postgres://user:$PASSWORD@host", "`password` = required", `{"token": "string", "password": "a text"}`,
	"sk-learn and task-force are words; AKIA too; ghp_short; eyJ", "mailto:alice@example.com, see http://example.com/a:b",
	"bearer tokens and basic authentication", "The key-value store has monkey-patches.", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "access_key: the id of a key",
}

var comment = regexp.MustCompile(`(?m)(?:^[ \t]*// ?.*\n)+`)

// ordinary returns texts as people and models write them: paragraphs of the documentation
// and of the list of changes, comments, and thoughts of transcripts.
func ordinary(t *testing.T) (texts []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "redact"):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		ext := filepath.Ext(path)
		if !slices.Contains([]string{".md", ".go", ".txtar", ".jsonl", ".txt"}, ext) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		parts := strings.Split(string(b), "\n\n")
		if ext == ".go" {
			parts = comment.FindAllString(string(b), -1)
		}
		for _, p := range parts {
			if p = strings.TrimSpace(p); len(p) > 60 && len(p) < 64<<10 {
				texts = append(texts, p)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// At most 5 of 2,000 ordinary texts have a mask. Of those that are logged, most are examples of
// secrets, such as URLs with passwords in scripts of tests.
func TestOrdinary(t *testing.T) {
	t.Parallel()
	for _, text := range lookAlikes {
		if got, found := masked(t, text); len(found) > 0 {
			t.Errorf("%q becomes %q by %s", text, got, found[0].Pattern)
		}
	}
	texts := ordinary(t)
	if len(texts) < 2000 {
		t.Fatalf("only %d texts", len(texts))
	}
	with := 0
	for _, text := range texts {
		got, found := masked(t, text)
		if len(found) == 0 {
			continue
		}
		with++
		before, after := strings.Split(text, "\n"), strings.Split(got, "\n")
		for i := range after {
			if i < len(before) && before[i] != after[i] {
				t.Logf("%s: %.160s", found[0].Pattern, after[i])
			}
		}
	}
	t.Logf("%d of %d texts have a mask", with, len(texts))
	if with*2000 > 5*len(texts) {
		t.Errorf("%d of %d texts have a mask, want at most 5 of 2,000", with, len(texts))
	}
}
