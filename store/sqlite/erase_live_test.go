package sqlite

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
)

// Another process appends without pause while this one deletes, erases and compacts.
// Each of its acknowledged thoughts is stored once, and the deleted text is gone.
func TestAppendsDuringEraseAndCompact(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "s.db"))
	defer s.Close()
	c := start(t, "append", childStore+"="+s.path, childName+"=live", childWriters+"=2")
	c.line(t)
	if _, err := io.WriteString(c.stdin, "\n"); err != nil {
		t.Fatal(err)
	}
	acknowledged := make(chan []string)
	began := make(chan struct{})
	go func() {
		var all []string
		for c.lines.Scan() {
			if all = append(all, c.lines.Text()); len(all) == 1 {
				close(began)
			}
		}
		acknowledged <- all
	}()
	<-began
	e := sequent.New(sequent.Config{Store: s})
	const rounds = 3
	for range rounds {
		secrets(t, s, 3, 4)
		for i := range 3 {
			for _, word := range []string{canary, "heron"} {
				if err := e.Delete(t.Context(), sequent.ID(fmt.Sprintf("%s-%d", word, i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.Erase(t.Context()); err != nil {
			t.Errorf("Erase while another process appends: %v", err)
		}
		if _, err := s.Compact(t.Context(), nil); err != nil {
			t.Errorf("Compact while another process appends: %v", err)
		}
	}
	c.stdin.Close()
	all := <-acknowledged
	if err := c.cmd.Wait(); err != nil {
		t.Fatalf("child: %v\n%s", err, c.errors)
	}
	t.Logf("%d thoughts were acknowledged during %d rounds", len(all), rounds)
	stored := make(map[string]int)
	for h, err := range e.AllSessions(t.Context(), sequent.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		session, err := e.Session(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		for th := range session.All() {
			stored[th.Text]++
		}
	}
	for _, text := range all {
		if stored[text] != 1 {
			t.Errorf("the acknowledged thought %q is stored %d times", text, stored[text])
		}
	}
	if len(all) < rounds {
		t.Errorf("the other process appended only %d thoughts", len(all))
	}
	if r, err := s.Erase(t.Context()); err != nil || r != (Residue{}) {
		t.Errorf("Erase at the end = %+v, %v, want nothing left", r, err)
	}
	if found := leaks(t, s.path, canary); len(found) > 0 {
		t.Errorf("the text of deleted sessions is in %v", found)
	}
}
