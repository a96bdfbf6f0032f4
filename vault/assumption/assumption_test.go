package assumption_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/assumption"
)

func open(t testing.TB) (*assumption.Ledger, string) {
	t.Helper()
	dir := t.TempDir()
	v, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return assumption.New(assumption.Config{Vault: v, Now: func() time.Time { return time.Date(2025, 1, 31, 23, 59, 59, 5e6, time.UTC) }}), dir
}

func read(t testing.TB, dir, file string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const (
	file = "assumptions/2025/01/assumption-1738367999005.md"
	uri  = vault.URI("memory://" + file)
)

// covers: 001/tool-ledger
func TestLedger(t *testing.T) {
	l, dir := open(t)
	ctx := t.Context()
	e, err := l.Append(ctx, assumption.Assumption{
		Statement: "Tokens live for an hour.\r\nAll of them.", Concepts: []string{"JWT", "[[token refresh]]", "jwt"},
		Context: "memory://thinking/sequential/session-1.md", ValidationPlan: "Read the configuration.",
	})
	if err != nil {
		t.Fatal(err)
	}
	if e.URI != uri || e.Status != assumption.Active || e.Confidence != assumption.Unspecified || e.Statement != "Tokens live for an hour.\nAll of them." ||
		!slices.Equal(e.Concepts, []string{"jwt", "token-refresh"}) {
		t.Errorf("got %+v", e)
	}
	want := `---
title: "Assumption: Tokens live for an hour."
permalink: assumption-1738367999005
type: assumption
status: active
confidence: unspecified
created: 2025-01-31T23:59:59.005Z
context: memory://thinking/sequential/session-1.md
validation_plan: Read the configuration.
---
# Assumption: Tokens live for an hour.

## Related Concepts

- [[JWT]]
- [[token refresh]]

## Statement

Tokens live for an hour.
All of them.

## Validation Plan

Read the configuration.
`
	if got := read(t, dir, file); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// A person edits the note.
	edited := strings.Replace(want, "confidence: unspecified\n", "confidence: low # says Ann\naliases: [x]\n", 1) + "\nSee [[RFC 7519]]."
	if err := os.WriteFile(filepath.Join(dir, file), []byte(edited), 0o644); err != nil {
		t.Fatal(err)
	}
	_, e, err = l.Update(ctx, "memory://assumptions/2025/01/assumption-1738367999005", assumption.Change{
		Status: assumption.Invalidated, Confidence: "high", Notes: "Five minutes, says [[auth.yaml]].", Concepts: []string{"clock skew"},
		ValidationPlan: "Ask [[Ann]].",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, dir, file)
	_, body, _ := strings.Cut(edited, "\n---\n")
	want = body + `

## Update: 2025-01-31 23:59:59 UTC

Related: [[clock skew]]

*Status: active → invalidated*

*Confidence: low → high*

Validation plan: Ask [[Ann]].

Five minutes, says [[auth.yaml]].
`
	if _, gotBody, _ := strings.Cut(got, "\n---\n"); gotBody != want {
		t.Errorf("got\n%s\nwant\n%s", gotBody, want)
	}
	for _, line := range []string{"\naliases: [x]\n", "\nstatus: invalidated\n", "\nconfidence: high", "\nvalidation_plan: Ask [[Ann]].\n", "\nupdated: 2025-01-31T23:59:59.005Z\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	again, err := l.Read(ctx, uri)
	if err != nil || again.Body != e.Body || again.Status != assumption.Invalidated || again.Confidence != "high" || again.ValidationPlan != "Ask [[Ann]]." ||
		again.Statement != e.Statement || !slices.Equal(again.Concepts, []string{"jwt", "token-refresh", "rfc-7519", "clock-skew", "ann", "auth.yaml"}) {
		t.Errorf("got %+v, %v", again, err)
	}
}

func TestRefusals(t *testing.T) {
	l, dir := open(t)
	ctx := t.Context()
	if err := os.WriteFile(filepath.Join(dir, "other.md"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(ctx, assumption.Assumption{Statement: "All is [[well]]."}); err != nil {
		t.Fatal(err)
	}
	before := read(t, dir, file)
	add := func(a assumption.Assumption) func() error {
		return func() error { _, err := l.Append(ctx, a); return err }
	}
	change := func(uri vault.URI, c assumption.Change) func() error {
		return func() error { _, _, err := l.Update(ctx, uri, c); return err }
	}
	get := func(uri vault.URI) func() error {
		return func() error { _, err := l.Read(ctx, uri); return err }
	}
	concepts := func(c ...string) func() error { return add(assumption.Assumption{Statement: "a", Concepts: c}) }
	for name, c := range map[string]struct {
		do    func() error
		code  sequent.Code
		words string
	}{
		"empty":              {add(assumption.Assumption{Statement: " \n", Concepts: []string{"a"}}), assumption.CodeInvalid, "assumption is empty"},
		"no concept":         {add(assumption.Assumption{Statement: "a"}), assumption.CodeConceptRequired, "concepts"},
		"concept in code":    {add(assumption.Assumption{Statement: "`[[a]]`"}), assumption.CodeConceptRequired, "concepts"},
		"empty concept":      {concepts(""), assumption.CodeInvalid, `"" cannot be a concept`},
		"brackets":           {concepts("a]] [[b"), assumption.CodeInvalid, "cannot be a concept"},
		"one bracket":        {concepts("a[b]"), assumption.CodeInvalid, "cannot be a concept"},
		"code":               {concepts("a`b"), assumption.CodeInvalid, "cannot be a concept"},
		"dashes":             {concepts("--"), assumption.CodeInvalid, "cannot be a concept"},
		"fragment":           {concepts("#x"), assumption.CodeInvalid, "cannot be a concept"},
		"long concept":       {concepts(strings.Repeat("x", 201)), assumption.CodeInvalid, "cannot be a concept"},
		"many concepts":      {concepts(slices.Repeat([]string{"a"}, 51)...), assumption.CodeInvalid, "51"},
		"long context":       {add(assumption.Assumption{Statement: "a", Concepts: []string{"a"}, Context: strings.Repeat("x", 201)}), assumption.CodeInvalid, "context has 201"},
		"changes nothing":    {change(uri, assumption.Change{Notes: " "}), assumption.CodeInvalid, "changes nothing"},
		"status":             {change(uri, assumption.Change{Status: "done"}), assumption.CodeInvalidStatus, `"done"`},
		"update without uri": {change("", assumption.Change{Status: assumption.Refined}), assumption.CodeInvalid, "uri is missing"},
		"another note":       {change("memory://other.md", assumption.Change{Status: assumption.Refined}), assumption.CodeNotFound, "not in the assumption ledger"},
		"on the way out":     {change("memory://assumptions/../other.md", assumption.Change{Status: assumption.Refined}), vault.CodeInvalidURI, "is . or .."},
		"absent":             {change("memory://assumptions/2025/01/a.md", assumption.Change{Status: assumption.Refined}), assumption.CodeNotFound, "check the uri"},
		"read without uri":   {get(" "), assumption.CodeInvalid, "uri is missing"},
		"read another note":  {get("memory://other"), assumption.CodeNotFound, "not in"},
		"read absent":        {get("memory://assumptions/a"), assumption.CodeNotFound, "there is no"},
		"read a path":        {get("/etc/passwd"), vault.CodeInvalidURI, "memory://"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.do()
			if sequent.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v (%s), want %s with %q", err, sequent.CodeOf(err), c.code, c.words)
			}
		})
	}
	if read(t, dir, file) != before || read(t, dir, "other.md") != "mine" {
		t.Error("a refused call has changed something")
	}
	names, err := os.ReadDir(filepath.Join(dir, "assumptions/2025/01"))
	if err != nil || len(names) != 1 {
		t.Errorf("there are %v, %v", names, err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte("---\n: [\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := change(uri, assumption.Change{Status: assumption.Refined})(); sequent.CodeOf(err) != vault.CodeFrontMatter {
		t.Errorf("damaged front matter: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, file), []byte("# Assumption: by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	if e, err := l.Read(ctx, uri); err != nil || e.Statement != "by hand" || e.Status != "" {
		t.Errorf("got %+v, %v", e, err)
	}
}

// An open code fence in the statement does not hide the concepts.
func TestConceptsAreInTheGraph(t *testing.T) {
	l, _ := open(t)
	for _, statement := range []string{"```\nopen", "<!-- open", "<script>", "`", "    code", "# x\n---", "x\n## Update: y", "[x]: y\n\n[[", "~~~", "a\x00b", "{{<"} {
		e, err := l.Append(t.Context(), assumption.Assumption{Statement: statement, Concepts: []string{"b", "中 文"}})
		if err != nil {
			t.Fatalf("%q: %v", statement, err)
		}
		if !slices.Equal(e.Concepts, []string{"b", "中-文"}) {
			t.Errorf("%q: the concepts are %q in\n%s", statement, e.Concepts, e.Body)
		}
		if want := strings.TrimSpace(strings.ReplaceAll(statement, "\x00", "␀")); e.Statement != want {
			t.Errorf("the statement is %q, want %q", e.Statement, want)
		}
	}
}

func TestTogether(t *testing.T) {
	l, dir := open(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			e, err := l.Append(t.Context(), assumption.Assumption{Statement: fmt.Sprint(i), Concepts: []string{"a"}})
			if err == nil {
				_, _, err = l.Update(t.Context(), e.URI, assumption.Change{Notes: "n"})
			}
			if err == nil {
				_, _, err = l.Update(t.Context(), uri, assumption.Change{Notes: fmt.Sprintf("note %d.", i)})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	names, err := os.ReadDir(filepath.Join(dir, "assumptions/2025/01"))
	if err != nil || len(names) != 20 {
		t.Errorf("there are %d, %v", len(names), err)
	}
	for i := range 20 {
		if !strings.Contains(read(t, dir, file), fmt.Sprintf("\nnote %d.\n", i)) {
			t.Errorf("note %d is lost", i)
		}
	}
}

func TestLatest(t *testing.T) {
	l, dir := open(t)
	for _, name := range []string{"2024/12/assumption-3.md", "2025/01/assumption-1.md", "2025/01/assumption-2.md", "2025/01/x.txt"} {
		path := filepath.Join(dir, assumption.Folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("# "+name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int]string{0: "", 2: "2025/01/assumption-2.md 2025/01/assumption-1.md", 9: "2025/01/assumption-2.md 2025/01/assumption-1.md 2024/12/assumption-3.md"} {
		list, err := l.Latest(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			got = append(got, strings.TrimPrefix(e.URI.Path(), assumption.Folder+"/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Latest(%d) = %q, want %q", limit, got, want)
		}
	}
}
