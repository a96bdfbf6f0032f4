package edit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

func TestMove(t *testing.T) {
	for _, test := range []struct {
		name, from, to string
		others         map[string]string
		text, want     string // of another note
	}{
		{"renamed", "ideas/pool.md", "ideas/connection pool.md", nil,
			"[[pool]] ![[Pool#Facts|the pool]] [[POOL.md]] [[ideas/pool]] [[pools]] `[[pool]]` memory://ideas/pool.md, memory://ideas/pool. memory://ideas/pool-2.md",
			"[[connection pool]] ![[connection pool#Facts|the pool]] [[connection pool.md]] [[ideas/connection pool]] [[pools]] `[[pool]]` memory://ideas/connection%20pool.md, memory://ideas/connection%20pool. memory://ideas/pool-2.md"},
		{"to another folder", "ideas/pool.md", "design/db/pool.md", nil,
			"[[pool]] [[ideas/pool|p]] [[/ideas/pool]] (memory://ideas/pool.md) <memory://ideas/pool>",
			"[[pool]] [[design/db/pool|p]] [[design/db/pool]] (memory://design/db/pool.md) <memory://design/db/pool>"},
		{"another note has the name", "ideas/pool.md", "ideas/pond.md", map[string]string{"old/pool.md": "x"},
			"[[pool]] [[ideas/pool]] [[old/pool]]", "[[pool]] [[ideas/pond]] [[old/pool]]"},
		{"in front matter", "ideas/pool.md", "ideas/pond.md", nil,
			"---\nrelated: \"[[pool]]\"\nlist:\n  - '[[ideas/pool]]'\n---\ntext", "---\nrelated: \"[[pond]]\"\nlist:\n  - '[[ideas/pond]]'\n---\ntext"},
		{"spellings", "Rate Limiting.md", "throttling.md", nil, "[[rate-limiting]] [[Rate_Limiting]]", "[[throttling]] [[throttling]]"},
		{"in a table", "a.md", "b.md", nil, "| x |\n|---|\n| [[a\\|alias]] |\n", "| x |\n|---|\n| [[b\\|alias]] |\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t, test.others)
			d.put(test.from, "myself: [[x]]")
			d.put("n/other.md", test.text)
			d.put("thinking/sequential/session-1.md", test.text)
			m, err := d.editor.Move(t.Context(), vault.URI("memory://"+strings.ReplaceAll(test.from, " ", "%20")), vault.URI("memory://"+test.to), "")
			if err != nil || len(m.Left) > 0 {
				t.Fatalf("%v, %v", err, m.Left)
			}
			for _, name := range []string{"n/other.md", "thinking/sequential/session-1.md"} {
				if got := d.read(name); got != test.want {
					t.Errorf("%s: got\n%s\nwant\n%s", name, got, test.want)
				}
			}
			if d.read(test.to) != "myself: [[x]]" {
				t.Error("the note has another text")
			}
			if _, err := os.Stat(filepath.Join(d.dir, test.from)); err == nil {
				t.Error("the old note is still there")
			}
		})
	}
}

func TestMoveRefused(t *testing.T) {
	d := newDesk(t, map[string]string{"a.md": "[[a]]", "b.md": "[[b]]", "thinking/sequential/session-1.md": "[[a]]"})
	for _, test := range []struct {
		from, to, sum string
		code          sequent.Code
	}{
		{"a", "b", "", "note_exists"}, {"a", "a", "", "edit_invalid"}, {"a", "", "", "edit_invalid"}, {"none", "c", "", "note_not_found"},
		{"a", "c", "0", "note_changed"}, {"a", "../c", "", "invalid_uri"}, {"a", "c%23d", "", "edit_invalid"},
		{"thinking/sequential/session-1", "c", "", "note_protected"}, {"a", "thinking/sequential/session-2", "", "note_protected"},
	} {
		to := vault.URI(test.to)
		if to != "" {
			to = "memory://" + to
		}
		_, err := d.editor.Move(t.Context(), vault.URI("memory://"+test.from), to, test.sum)
		d.want(err, test.code)
	}
	if d.read("a.md")+d.read("b.md") != "[[a]][[b]]" {
		t.Error("a note was changed")
	}
}

// A process that was killed in the middle of a move has changed the links in some notes. The
// same call does the rest.
func TestKilledMove(t *testing.T) {
	const text = "Note: [[left]], [[here/left|x]], memory://here/left.md.\n"
	const want = "Note: [[right]], [[there/right|x]], memory://there/right.md.\n"
	d := newDesk(t, map[string]string{"here/left.md": "[[self]] [[right]]", "n/1.md": want, "n/2.md": text, "n/3.md": text})
	m, err := d.editor.Move(t.Context(), "memory://here/left.md", "memory://there/right.md", "")
	if err != nil || len(m.Left) > 0 || m.Links != 6 || fmt.Sprint(m.Notes) != "[memory://n/2.md memory://n/3.md]" {
		t.Fatalf("%+v, %v", m, err)
	}
	if got := d.read("n/1.md") + d.read("n/2.md") + d.read("n/3.md") + d.read("there/right.md"); got != want+want+want+"[[self]] [[right]]" {
		t.Errorf("got %q", got)
	}
}
