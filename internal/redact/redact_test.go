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

// A title that was cut within a secret does not keep its beginning.
func TestTitle(t *testing.T) {
	secret := strings.Repeat("k3y", 20)
	e := sequent.New(sequent.Config{})
	if _, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Total: 1, Text: "The key that the service uses is token=" + secret + ", says the log.", Final: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	h, entries, err := e.Entries(t.Context(), "s", sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	if h, _, _, err = redact.Session(t.Context(), h, entries, expressions(t, "token=("+secret+")")); err != nil {
		t.Fatal(err)
	}
	if want := "The key that the service uses is token=[redacted], says the log."; h.Title != want {
		t.Errorf("title %q, want %q", h.Title, want)
	}
}
