package redact_test

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
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

// A text is removed from every field, in all formats, and the rest still verifies.
func TestSession(t *testing.T) {
	const secret = `hun"ter2`
	e := sequent.New(sequent.Config{}).Owned("mail " + secret)
	id := sequent.ID("id-" + secret)
	long := strings.Repeat("A long beginning ", 4) + "password=" + secret + " and more of it"
	if _, err := e.Begin(t.Context(), id, func(c *sequent.Change) error {
		c.BeginIn("scope "+secret, "dialect")
		for i, d := range []sequent.Draft{
			{Text: long, Note: "bare " + secret},
			{Text: "a", Branch: "b " + secret, From: sequent.To(1), Request: sequent.Request{Key: "k " + secret, Digest: "d"}},
			{Text: "b", Branch: "c " + secret, From: sequent.To(1), Request: sequent.Request{Key: "l " + secret, Digest: "d"}},
			{Text: "c", Branch: secret + secret, Labels: map[string]string{"given.branchId": `"hun\"ter2"`}},
			{Text: "nothing to hide"},
		} {
			d.Number, d.Total = i+1, 5
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		c.Conclude("It was " + secret + ".")
		c.SetLabel("topic", secret)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	h, entries, err := e.Entries(t.Context(), id, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	before := string(archive.Log(h, entries))
	rh, redacted, found, err := redact.Session(t.Context(), h, entries, expressions(t, `password=(\S+)`))
	if err != nil {
		t.Fatal(err)
	}
	if string(archive.Log(h, entries)) != before {
		t.Error("the original has changed")
	}
	doc := string(archive.Log(rh, redacted))
	for _, part := range []string{"hun", "ter2"} {
		if strings.Contains(doc, part) {
			t.Errorf("%q is in\n%s", part, doc)
		}
	}
	if v := sequent.Verify(rh, redacted); v.Fault != nil || v.Head != h.Head || len(v.Masked) != 5 {
		t.Errorf("Verify = %+v, want the head %s and 5 masked entries", v, h.Head)
	}
	fields := map[string]int{}
	for _, f := range found {
		fields[f.Field] += f.Count
	}
	for field, want := range map[string]int{
		"id": 1, "owner": 1, "scope": 2, "title": 1, "text": 1, "note": 1, "branch": 3, "request.key": 2,
		"labels.given.branchId": 1, "conclusion": 2, "labels.topic": 2,
	} {
		if fields[field] != want {
			t.Errorf("%s: found %d, want %d in %+v", field, fields[field], want, found)
		}
	}
	// It can be imported: names that were two are two.
	to := sequent.New(sequent.Config{}).Owned(rh.Owner)
	if _, err := to.Restore(t.Context(), rh, redacted); err != nil {
		t.Error(err)
	}
	s, err := to.Session(t.Context(), rh.ID)
	if err != nil || len(s.Branches()) != 3 {
		t.Errorf("branches %q, %v; want 3", s.Branches(), err)
	}
	// Nothing to find changes nothing.
	if h2, same, found, err := redact.Session(t.Context(), h, entries, redact.Secrets()); err != nil || len(found) > 0 || string(archive.Log(h2, same)) != before {
		t.Errorf("without secrets: found %v, %v", found, err)
	}
}

// The name of a label is part of the proof.
func TestNameOfLabel(t *testing.T) {
	thoughts := []sequent.Thought{{Seq: 1, Draft: sequent.Draft{Text: "x", Labels: map[string]string{"alice": "1"}, Final: true}}}
	_, _, _, err := redact.Session(t.Context(), sequent.Header{}, sequent.Entries(thoughts), expressions(t, "alice"))
	if sequent.CodeOf(err) != sequent.CodeInvalidSession || strings.Contains(err.Error(), "alice") {
		t.Errorf("error %v, want one that does not say the name", err)
	}
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
