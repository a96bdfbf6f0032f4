package setup

import (
	"strings"
	"testing"
)

func FuzzJSON(f *testing.F) { fuzz(f, "claude-code") }
func FuzzTOML(f *testing.F) { fuzz(f, "codex") }
func FuzzYAML(f *testing.F) { fuzz(f, "goose") }

func fuzz(f *testing.F, id string) {
	c, _ := Lookup(id)
	for _, text := range texts[c.Format] {
		f.Add(strings.ReplaceAll(text, "SERVERS", c.Servers))
		f.Add(strings.ReplaceAll(text, "SERVERS", c.Servers) + "{")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := c.parse([]byte(text)); err == nil {
			roundTrip(t, d)
		}
	})
}

// roundTrip adds the entry to a document, changes it and cuts it out. It reports false if the
// document is one that is left alone.
func roundTrip(t *testing.T, d document) bool {
	t.Helper()
	first, _, err := d.client.fields(local, false)
	if err != nil {
		t.Fatal(err)
	}
	added, err := d.put(first)
	if err != nil {
		return false
	}
	for _, server := range []Server{local, {URL: "http://x", TokenEnv: "T"}} {
		then, err := d.client.parse(added)
		if err != nil {
			t.Fatalf("%q became %q: %v", d.text, added, err)
		}
		if _, err := then.cut(); err != nil {
			t.Fatalf("%q cannot be cut out of %q: %v", d.text, added, err)
		}
		reach, _, err := d.client.fields(server, false)
		if err != nil {
			t.Fatal(err)
		}
		again, err := then.put(updated(then.entry, reach))
		if err != nil {
			t.Fatalf("%q became %q, which cannot be changed: %v", d.text, added, err)
		}
		if server.URL == "" && string(again) != string(added) {
			t.Fatalf("%q became %q, and %q the second time", d.text, added, again)
		}
		added = again
	}
	return true
}
