package archive_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// An export keeps its hashes. One that does not verify is refused with the first fault,
// and leaves nothing behind.
func TestImportChecksHashes(t *testing.T) {
	from := sequent.New(sequent.Config{})
	if _, err := from.Begin(t.Context(), "s", func(c *sequent.Change) error {
		for n := range 4 {
			if _, err := c.Append(sequent.Draft{Number: n + 1, Total: 4, Text: fmt.Sprint("thought ", n+1)}); err != nil {
				return err
			}
		}
		c.Conclude("It holds.")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	h, entries := entriesOf(t, from, "s")
	doc := string(archive.Log(h, entries))
	hashes := regexp.MustCompile(`(?m)^ +"(salt|hash|place)": [^,\n]+,\n`)
	for name, tt := range map[string]struct {
		doc  string
		want string
	}{
		"intact":           {doc, "sequent added s 4"},
		"a text":           {strings.Replace(doc, "thought 3", "thought 4", 1), "thought 3 was altered"},
		"a conclusion":     {strings.Replace(doc, `"conclusion": "It holds.",`, "", 1), "the conclusion of the session is not"},
		"no head":          {regexp.MustCompile(`,\s*"entries": 5,\s*"head": "\w+",\s*"seal": "\w+"`).ReplaceAllString(doc, ""), "the head of the session is not"},
		"only a head":      {hashes.ReplaceAllString(doc, ""), "thought 1 has no proof"},
		"one hash removed": {regexp.MustCompile(`"place": 4,(\s*"kind": "thought",\s*"at": "[^"]+",)\s*"salt": "\w+",\s*"hash": "\w+",`).ReplaceAllString(doc, "$1"), "thought 4 has no proof"},
	} {
		t.Run(name, func(t *testing.T) {
			to := sequent.New(sequent.Config{})
			file := filepath.Join(t.TempDir(), "s.json")
			if err := os.WriteFile(file, []byte(tt.doc), 0o600); err != nil {
				t.Fatal(err)
			}
			lines, sum, err := run(t, config(to), file)
			if err != nil || len(lines) != 1 || !strings.Contains(lines[0], tt.want) {
				t.Fatalf("%v, %v, want %q in\n%s", lines, err, tt.want, tt.doc)
			}
			got, _, err := to.Entries(t.Context(), "s", sequent.Position{})
			if sum[archive.Added] == 1 && got.Head != h.Head || sum[archive.Added] == 0 && !errors.Is(err, sequent.ErrNotFound) {
				t.Errorf("added %d, head %s, %v; want the head %s, or no session", sum[archive.Added], got.Head, err, h.Head)
			}
		})
	}
}
