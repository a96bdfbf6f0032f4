package redact_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/redact"
)

// Each pattern finds its secrets and leaves similar texts alone. The secrets are put
// together here, so that scanners of this repository do not report them.
func TestSecrets(t *testing.T) {
	key := func(prefix string, n int) string { return prefix + strings.Repeat("Ab3x", n) }
	for _, tt := range []struct{ text, secret, name string }{
		{"key AKI" + "AIOSFODNN7EXAMPLE.", "AKI" + "AIOSFODNN7EXAMPLE", "AWS access key ID"},
		{`aws_secret_access_key = "` + key("", 10) + `"`, key("", 10), "AWS secret access key"},
		{"AWS_SECRET_ACCESS_KEY=" + key("", 10) + "\nnext", key("", 10), "AWS secret access key"},
		{"use " + key("ghp_", 9), key("ghp_", 9), "GitHub token"},
		{"use " + key("github_pat_", 9), key("github_pat_", 9), "GitHub token"},
		{key("glpat-", 5), key("glpat-", 5), "GitLab token"},
		{key("xoxb-1234567890-", 5), key("xoxb-1234567890-", 5), "Slack token"},
		{"https://hooks.slack.com/services/T000/B000/" + key("", 6), "https://hooks.slack.com/services/T000/B000/" + key("", 6), "Slack webhook"},
		{key("AIzaAbc", 8), key("AIzaAbc", 8), "Google API key"},
		{key("GOCSPX-", 7), key("GOCSPX-", 7), "Google OAuth secret"},
		{key("ya29.", 7), key("ya29.", 7), "Google access token"},
		{key("sk-ant-api03-", 9), key("sk-ant-api03-", 9), "Anthropic key"},
		{key("sk-proj-", 9), key("sk-proj-", 9), "OpenAI key"},
		{key("sk-", 12), key("sk-", 12), "OpenAI key"},
		{key("hf_", 8), key("hf_", 8), "Hugging Face token"},
		{key("npm_", 9), key("npm_", 9), "npm token"},
		{key("sk_live_", 6), key("sk_live_", 6), "Stripe key"},
		{"sequent_" + strings.Repeat("AB", 13), "sequent_" + strings.Repeat("AB", 13), "sequent token"},
		{"a\n-----BEGIN RSA PRIVATE " + "KEY-----\nMII\nx==\n-----END RSA PRIVATE " + "KEY-----\nb", "-----BEGIN RSA PRIVATE " + "KEY-----\nMII\nx==\n-----END RSA PRIVATE " + "KEY-----", "private key"},
		{"cut off: -----BEGIN PRIVATE " + "KEY-----\nMII", "-----BEGIN PRIVATE " + "KEY-----\nMII", "private key"},
		{"eyJhbGciOiJI." + "eyJzdWIiOiIx.SflKxwRJ ", "eyJhbGciOiJI." + "eyJzdWIiOiIx.SflKxwRJ", "JSON Web Token"},
		{"Authorization: Bearer " + key("", 6), key("", 6), "bearer token"},
		{"postgres://sequent:s3cr%40t@db:5432/x", "s3cr%40t", "password in a URL"},
		{"amqp://:pass@host", "pass", "password in a URL"},
		{"sk-learn and task-force are words; AKIA too; https://host:8080/@x; ghp_short; eyJ", "", ""},
		{"mailto:alice@example.com, see http://example.com/a:b and ssh://git@host/x", "", ""},
	} {
		thoughts := []sequent.Thought{{Seq: 1, Draft: sequent.Draft{Text: tt.text}}}
		_, entries, found, err := redact.Session(sequent.Header{}, sequent.Entries(thoughts), redact.Secrets())
		if err != nil {
			t.Fatal(err)
		}
		want := tt.text
		if tt.secret != "" {
			want = strings.Replace(tt.text, tt.secret, redact.Mask, 1)
		}
		if got := entries[0].Thought.Text; got != want {
			t.Errorf("%q becomes %q, want %q", tt.text, got, want)
		}
		if tt.secret == "" && len(found) > 0 || tt.secret != "" && (len(found) != 1 || found[0].Pattern != tt.name || found[0].Count != 1) {
			t.Errorf("%q: found %+v, want one %q", tt.text, found, tt.name)
		}
	}
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
			{Text: long, More: true, Note: "bare " + secret},
			{Text: "a", Branch: "b " + secret, From: sequent.To(1), More: true, Request: sequent.Request{Key: "k " + secret, Digest: "d"}},
			{Text: "b", Branch: "c " + secret, From: sequent.To(1), More: true, Request: sequent.Request{Key: "l " + secret, Digest: "d"}},
			{Text: "c", Branch: secret + secret, More: true, Labels: map[string]string{"given.branchId": `"hun\"ter2"`}},
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
	h, entries, err := e.Entries(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	before := string(archive.Log(h, entries))
	patterns := []redact.Pattern{{Name: "password", Expr: regexp.MustCompile(`password=(\S+)`)}}
	rh, redacted, found, err := redact.Session(h, entries, patterns)
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
		"id": 1, "owner": 1, "scope": 2, "title": 2, "text": 1, "note": 1, "branch": 4, "request.key": 2,
		"labels.given.branchId": 1, "conclusion": 2, "labels.topic": 2,
	} {
		if fields[field] != want {
			t.Errorf("%s: found %d, want %d in %+v", field, fields[field], want, found)
		}
	}
	// It can be imported: names that were two are two.
	to := sequent.New(sequent.Config{}).Owned(rh.Owner)
	if _, err := to.RestoreEntries(t.Context(), rh, redacted); err != nil {
		t.Error(err)
	}
	s, err := to.Session(t.Context(), rh.ID)
	if err != nil || len(s.Branches()) != 3 {
		t.Errorf("branches %q, %v; want 3", s.Branches(), err)
	}
	// Nothing to find changes nothing.
	if h2, same, found, err := redact.Session(h, entries, redact.Secrets()); err != nil || len(found) > 0 || string(archive.Log(h2, same)) != before {
		t.Errorf("without secrets: found %v, %v", found, err)
	}
}

// The name of a label is part of the proof.
func TestNameOfLabel(t *testing.T) {
	thoughts := []sequent.Thought{{Seq: 1, Draft: sequent.Draft{Text: "x", Labels: map[string]string{"alice": "1"}}}}
	_, _, _, err := redact.Session(sequent.Header{}, sequent.Entries(thoughts), []redact.Pattern{{Name: "p", Expr: regexp.MustCompile("alice")}})
	if sequent.CodeOf(err) != sequent.CodeInvalidSession || strings.Contains(err.Error(), "alice") {
		t.Errorf("error %v, want one that does not say the name", err)
	}
}

// A title that was cut within a secret does not keep its beginning.
func TestTitle(t *testing.T) {
	secret := strings.Repeat("k3y", 20)
	e := sequent.New(sequent.Config{})
	if _, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
		_, err := c.Append(sequent.Draft{Number: 1, Total: 1, Text: "The key that the service uses is token=" + secret + ", says the log."})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	h, entries, err := e.Entries(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if h, _, _, err = redact.Session(h, entries, []redact.Pattern{{Name: "p", Expr: regexp.MustCompile("token=(" + secret + ")")}}); err != nil {
		t.Fatal(err)
	}
	if want := "The key that the service uses is token=[redacted], says the log."; h.Title != want {
		t.Errorf("title %q, want %q", h.Title, want)
	}
}
