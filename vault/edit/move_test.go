package edit_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/edit"
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

const moverEnv = "SEQUENT_TEST_MOVE"

// TestMain moves a note back and forth until it is killed, in a process of its own.
func TestMain(m *testing.M) {
	dir := os.Getenv(moverEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	v, err := vault.Open(vault.Config{Dir: dir})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	e := edit.New(edit.Config{Vault: v})
	fmt.Println("moving")
	for i := 0; ; i++ {
		from, to := names(i)
		if _, err := e.Move(context.Background(), from, to, ""); err != nil {
			from, to = to, from // a killed process has left it there
			if _, err := e.Move(context.Background(), from, to, ""); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	}
}

func names(i int) (from, to vault.URI) {
	from, to = "memory://here/left.md", "memory://there/right.md"
	if i%2 == 1 {
		from, to = to, from
	}
	return from, to
}

// A process that is killed in the middle of a move leaves the note under its old name and no
// torn note. The same call again makes all links lead to the new name.
func TestKilledMove(t *testing.T) {
	const notes, kills = 60, 8
	files := map[string]string{"here/left.md": "[[self]] [[left]]"}
	for i := range notes {
		files[fmt.Sprintf("n/%02d.md", i)] = fmt.Sprintf("Note %d: [[left]], [[here/left|x]], memory://here/left.md.\n", i)
	}
	d := newDesk(t, files)
	interrupted := 0
	for kill := range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), moverEnv+"="+d.dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 7)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(20+17*kill) * time.Millisecond) // anywhere in a move
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		from, to := names(0)
		if _, err := d.vault.Stat(t.Context(), from); err != nil {
			from, to = names(1)
		}
		m, err := d.editor.Move(t.Context(), from, to, "")
		if err != nil || len(m.Left) > 0 {
			t.Fatalf("kill %d: %v, %v", kill, err, m.Left)
		}
		if m.Links < 3*notes+1 {
			interrupted++
		}
		if _, err := d.vault.Stat(t.Context(), from); err == nil {
			t.Fatal("both names are left")
		}
		if got := d.read(to.Path()); got != "[[self]] [["+to.Name()+"]]" {
			t.Errorf("kill %d: the moved note is %q", kill, got)
		}
		for i := range notes {
			want := fmt.Sprintf("Note %d: [[%s]], [[%s|x]], %s.\n", i, to.Name(), strings.TrimSuffix(to.Path(), ".md"), to)
			if got := d.read(fmt.Sprintf("n/%02d.md", i)); got != want {
				t.Fatalf("kill %d: got %q, want %q", kill, got, want)
			}
		}
	}
	t.Logf("%d of %d kills were in the middle of a move", interrupted, kills)
}
