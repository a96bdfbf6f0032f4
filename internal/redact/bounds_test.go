package redact_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

// session returns the entries of thoughts with the given texts.
func session(texts ...string) []sequent.Entry {
	thoughts := make([]sequent.Thought, len(texts))
	for i, text := range texts {
		thoughts[i] = sequent.Thought{Seq: i + 1, Draft: sequent.Draft{Text: text}}
	}
	return sequent.Entries(thoughts)
}

// Each of many secrets is masked in each thought, in one pass: a search for each of them would be 2,000 passes.
func TestManySecrets(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "password=abab%04d\n", i)
	}
	log, find := session(text.String(), text.String()), expressions(t, `password=(\S+)`)
	_, entries, found, err := redact.Session(t.Context(), sequent.Header{}, log, find)
	if err != nil || len(found) != 2 || found[1].Count != 2000 || strings.Contains(entries[1].Thought.Text, "abab") {
		t.Errorf("%d findings, %v", len(found), err)
	}
}

// More different texts than a dictionary may hold are an error, not gigabytes.
func TestTooManySecrets(t *testing.T) {
	var texts []string
	for i := range 40 {
		texts = append(texts, strings.Repeat("x", 60<<10)+string(rune('a'+i)))
	}
	_, _, _, err := redact.Session(t.Context(), sequent.Header{}, session(texts...), expressions(t, "(?s).+"))
	if sequent.CodeOf(err) != sequent.CodeLimitExceeded {
		t.Errorf("error %v, want %s", err, sequent.CodeLimitExceeded)
	}
}

// leaving is a context whose caller leaves after it was asked a number of times.
type leaving struct {
	context.Context
	asked, after int
}

func (l *leaving) Err() error {
	if l.asked++; l.asked > l.after {
		return context.Canceled
	}
	return nil
}

// The finder of secrets asks before each comparison whether its caller has left, also within one text, and then ends.
// So it makes fewer comparisons than a text has bytes, whatever the text is.
func TestCancelled(t *testing.T) {
	for name, text := range map[string]string{
		"every word": "password=token: secret = ://x: ey.ghp_ glpat- xoxb- sk- key- AKIA hvs. -----BEGIN ya29. AIza hf_ npm_ " +
			"SG. dapi Bearer Basic Cookie: ",
		"one letter": "a", "assignments": "token=", "colons": ":AA", "boundaries": ".ey", "nearly a key": "-----BEGIN RSA PRIVATE ",
	} {
		text = strings.Repeat(text, 64<<10/len(text))
		whole, log := &leaving{t.Context(), 0, 1 << 30}, session(text)
		if _, _, _, err := redact.Session(whole, sequent.Header{}, log, redact.Secrets()); err != nil || whole.asked > len(text) {
			t.Errorf("%s: %v, asked %d times", name, err, whole.asked)
		}
		left := &leaving{t.Context(), 0, 20}
		_, _, _, err := redact.Session(left, sequent.Header{}, log, redact.Secrets())
		if !errors.Is(err, context.Canceled) || left.asked > 5000 { // once for each word of a rule and each field
			t.Errorf("%s, left: %v, asked %d times", name, err, left.asked)
		}
	}
}
