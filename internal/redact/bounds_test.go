package redact_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/redact"
)

// adversarial returns a session of n thoughts of 64 KiB that cost the most: every word of every rule,
// nothing of which is a secret, or nothing but secrets.
func adversarial(n int, text string) (sequent.Header, []sequent.Entry) {
	thoughts := make([]sequent.Thought, n)
	for i := range thoughts {
		thoughts[i] = sequent.Thought{Seq: i + 1, Draft: sequent.Draft{Text: strings.Repeat(text, (64<<10)/len(text))}}
	}
	return sequent.Header{}, sequent.Entries(thoughts)
}

// hostile are texts that are repeated in thoughts of 64 KiB.
var hostile = map[string]string{
	"every word": "password=token: secret = ://x: ey.ghp_ glpat- xoxb- sk- key- AKIA hvs. -----BEGIN ya29. AIza hf_ npm_ SG. dapi Bearer Basic Cookie: ",
	"one letter": "a", "assignments": "token=", "colons": ":AA", "boundaries": ".ey", "nearly a key": "-----BEGIN RSA PRIVATE ",
}

// A text costs at most some microseconds a byte, whatever it is.
func TestHostileTexts(t *testing.T) {
	for name, text := range hostile {
		h, entries := adversarial(2, text)
		begin := time.Now()
		_, _, found, err := redact.Session(t.Context(), h, entries, redact.Secrets())
		if d := time.Since(begin); d > 20*time.Second {
			t.Errorf("%s: 128 KiB took %s", name, d)
		} else {
			t.Logf("%s: %s, %d, %v", name, d, len(found), err)
		}
	}
}

// Redaction costs the text, not the text times the number of secrets: 2,000 different secrets cost
// about what a few do.
func TestManySecrets(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		b.WriteString("password=" + strings.Repeat("ab", 6) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)) + "7\n")
	}
	text := b.String()
	thoughts := make([]sequent.Thought, 100)
	for i := range thoughts {
		thoughts[i] = sequent.Thought{Seq: i + 1, Draft: sequent.Draft{Text: text}}
	}
	begin := time.Now()
	_, entries, found, err := redact.Session(t.Context(), sequent.Header{}, sequent.Entries(thoughts), expressions(t, `password=(\S+)`))
	if err != nil || len(found) != 100 || found[0].Count != 2000 || strings.Contains(entries[99].Thought.Text, "abab") {
		t.Fatalf("%d findings, %v", len(found), err)
	}
	if d := time.Since(begin); d > 60*time.Second {
		t.Errorf("%d MiB took %s", 100*len(text)>>20, d)
	} else {
		t.Logf("%d MiB took %s", 100*len(text)>>20, d)
	}
}

// More different texts than a dictionary may hold are an error, not gigabytes.
func TestTooManySecrets(t *testing.T) {
	var thoughts []sequent.Thought
	for i := range 40 {
		thoughts = append(thoughts, sequent.Thought{Seq: i + 1, Draft: sequent.Draft{Text: strings.Repeat("x", 60<<10) + string(rune('a'+i))}})
	}
	_, _, _, err := redact.Session(t.Context(), sequent.Header{}, sequent.Entries(thoughts), expressions(t, "(?s).+"))
	if sequent.CodeOf(err) != sequent.CodeLimitExceeded {
		t.Errorf("error %v, want %s", err, sequent.CodeLimitExceeded)
	}
}

// Redaction ends soon after its caller has left.
func TestCancelled(t *testing.T) {
	h, entries := adversarial(200, hostile["every word"])
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, _, _, err := redact.Session(ctx, h, entries, redact.Secrets())
	if d := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || d > 20*time.Second {
		t.Errorf("%v after %s", err, d)
	}
}
