package redact_test

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

func expressions(t *testing.T, exprs ...string) redact.Finder {
	t.Helper()
	find, err := redact.Expressions(exprs)
	if err != nil {
		t.Fatal(err)
	}
	return find
}

// logOf returns the log of a session that f begins.
func logOf(t *testing.T, f func(c *sequent.Change) error) (sequent.Header, []sequent.Entry) {
	t.Helper()
	e := sequent.New(sequent.Config{})
	if _, err := e.Begin(t.Context(), "s", f); err != nil {
		t.Fatal(err)
	}
	h, entries, err := e.Entries(t.Context(), "s", sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return h, entries
}

// A title that was cut within a secret does not keep its beginning.
func TestTitle(t *testing.T) {
	secret := strings.Repeat("k3y", 20)
	h, entries := logOf(t, func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Text: "The key that the service uses is token=" + secret + ", says the log."})
		return err
	})
	h, _, _, err := redact.Session(t.Context(), h, entries, expressions(t, "token=("+secret+")"))
	if want := "The key that the service uses is token=[redacted], says the log."; err != nil || h.Title != want {
		t.Errorf("title %q, %v, want %q", h.Title, err, want)
	}
}

// The name of a label cannot be masked. A session with a secret in one is refused.
func TestSecretInNameOfLabel(t *testing.T) {
	h, entries := logOf(t, func(c *sequent.Change) error {
		c.SetLabel("glpat-"+"Zx8qTn3vWm5yRk2hLp9s", "x")
		_, err := c.Append(sequent.Draft{Number: 1, Text: "Go on."})
		return err
	})
	if _, _, _, err := redact.Session(t.Context(), h, entries, redact.Secrets()); sequent.CodeOf(err) != sequent.CodeInvalidSession {
		t.Errorf("%v, want %s", err, sequent.CodeInvalidSession)
	}
}
