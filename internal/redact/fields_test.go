package redact_test

import (
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/redact"
	"github.com/sequent-dev/sequent/web"
)

// What is found is masked in every field of every format, the origin of the session included, and
// the report counts the masks of the output.
func TestEveryFieldAndFormat(t *testing.T) {
	secret := "gh" + "p_" + strings.Repeat("Ab3x", 9)
	in := func(text string) string { return text + " " + secret }
	ctx := sequent.WithOrigin(t.Context(), func() sequent.Origin {
		return sequent.Origin{
			Client: in("client"), ClientVersion: in("1.0"), Agent: in("agent"), Model: in("model"), Project: "/home/" + secret, GitBranch: "fix/" + secret, Commit: secret,
		}
	})
	e := sequent.New(sequent.Config{}).Owned(in("owner"))
	id := sequent.ID("s-" + secret)
	if _, err := e.Begin(ctx, id, func(c *sequent.Change) error {
		c.BeginIn(in("scope"), in("dialect"))
		c.SetTitle(in("title"))
		for n, d := range []sequent.Draft{
			{Text: in("text"), Note: in("note"), Request: sequent.Request{Key: in("key"), Digest: "d"}, Labels: map[string]string{"topic": in("label")}},
			{Text: "Or not.", Branch: in("branch"), From: sequent.To(1)},
			{Text: "Or so.", Branch: in("another"), From: sequent.To(1), Labels: map[string]string{"given.branchId": `"` + secret + `"`}},
			{Text: "nothing to hide"},
		} {
			d.Number, d.Total = n+1, 5
			if _, err := c.Append(d); err != nil {
				return err
			}
		}
		c.SetLabel("tags", in("tag"))
		c.Conclude(in("conclusion"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(ctx, id, func(c *sequent.Change) error {
		return c.AddNote(sequent.Note{Seq: 1, Kind: sequent.Wrong, Text: in("remark"), From: in("ann")})
	}); err != nil {
		t.Fatal(err)
	}
	h, entries, err := e.Entries(t.Context(), id, sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	before := string(archive.Log(h, entries))
	if h, same, found, err := redact.Session(t.Context(), h, entries, expressions(t, "nosuchtext")); err != nil || len(found) > 0 || string(archive.Log(h, same)) != before {
		t.Errorf("without secrets: found %v, %v", found, err)
	}
	for name, finder := range map[string]redact.Finder{"secrets": redact.Secrets(), "expression": expressions(t, secret)} {
		h, entries, found, err := redact.Session(t.Context(), h, entries, finder)
		if err != nil {
			t.Fatal(err)
		}
		s, err := redact.Snapshot(t.Context(), h, entries)
		if err != nil {
			t.Fatal(err)
		}
		page, err := web.File(t.Context(), s, found)
		if err != nil {
			t.Fatal(err)
		}
		log := string(archive.Log(h, entries))
		for format, text := range map[string]string{
			"json": log, "json of a snapshot": string(archive.JSON(s)), "md": archive.Markdown(s), "mermaid": archive.Mermaid(s), "html": string(page),
			"session file": string(archive.SessionFile(s)),
		} {
			if strings.Contains(text, secret[:12]) || strings.Contains(text, secret[8:]) {
				t.Errorf("%s: the export as %s has the secret: %s", name, format, text)
			}
		}
		counted, fields := 0, make(map[string]int)
		for _, f := range found {
			counted += f.Count
			fields[f.Field] += f.Count
		}
		if n := strings.Count(log, redact.Mask); n != counted {
			t.Errorf("%s: the output has %d masks, and %d are reported: %v", name, n, counted, found)
		}
		for _, field := range []string{
			"id", "owner", "title", "scope", "dialect", "conclusion", "labels.tags", "labels.topic", "text", "note", "branch", "request.key", "from",
			"origin.client", "origin.clientVersion", "origin.agent", "origin.model", "origin.project", "origin.gitBranch", "origin.commit",
		} {
			if fields[field] == 0 {
				t.Errorf("%s: nothing is reported of the field %s", name, field)
			}
		}
		if v := sequent.Verify(h, entries); v.Fault != nil || len(v.Masked) != 5 {
			t.Errorf("%s: the export does not verify: %+v", name, v)
		}
		if len(s.Branches()) != 2 {
			t.Errorf("%s: the branches are %q, want two", name, s.Branches())
		}
		to := sequent.New(sequent.Config{}).Owned(h.Owner)
		if _, err := to.Restore(t.Context(), h, entries); err != nil {
			t.Errorf("%s: the export cannot be imported: %v", name, err)
		}
	}
}
