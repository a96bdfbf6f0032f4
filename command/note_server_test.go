package command

import (
	"strings"
	"testing"
)

// note --server records the note of the token's subject, and refuses what the token does not allow.
func TestNoteServer(t *testing.T) {
	t.Parallel()
	r := newReaders(t)
	code, out, stderr := r.run(t, "lead", "note", "de#1", "--wrong", "no", "pool", "--json")
	if want := `{"session":"demo","seq":1,"kind":"wrong","text":"no pool","from":"lead","at":"`; code != 0 || !strings.HasPrefix(out, want) || !strings.HasSuffix(out, `","owner":"lead"}`+"\n") {
		t.Errorf("note exits with %d and prints %s%s, want %s", code, out, stderr, want)
	}
	if code, out, stderr = r.run(t, "lead", "note", "demo@1", "--approve"); code != 0 || out != "Noted at thought #1 of session demo.\n" {
		t.Errorf("note exits with %d and prints %s%s", code, out, stderr)
	}
	_, notes, _ := r.run(t, "", "watch", "--owner", "lead", "demo", "--until-complete")
	if !strings.Contains(notes, "note on #1 wrong (lead): no pool\n") || !strings.Contains(notes, "note on #1 approved (lead)") {
		t.Errorf("the store has %s", notes)
	}
	for _, tt := range []struct {
		subject string
		args    []string
		want    []string
	}{
		{"alice", []string{"note", "s00#1", "No."}, []string{"sequent:write"}},
		{"lead", []string{"note", "--owner", "bob", "long#1", "No."}, []string{"notes are for sessions of one's own", "ask their owner"}},
		{"lead", []string{"note", "demo#1", "No.", "--from", "Kim"}, []string{"--from", "leave --from out"}},
		{"lead", []string{"note", "demo#9", "No."}, []string{"9"}},
		{"lead", []string{"note", "demo", "No."}, []string{"a note belongs to a thought", "demo#N"}},
		{"lead", []string{"note", "nosuch#1", "No."}, []string{"no session has an id that begins with"}},
		{"lead", []string{"note", "demo#1", strings.Repeat("long ", 14_000)}, []string{"text has 70000 bytes, the limit is 65536"}},
	} {
		code, out, stderr := r.run(t, tt.subject, tt.args...)
		for _, want := range tt.want {
			if code == 0 || out != "" || !strings.Contains(stderr, want) {
				t.Errorf("%s %.60q exits with %d and prints %s%s, want %s", tt.subject, tt.args, code, out, stderr, want)
			}
		}
	}
	if _, after, _ := r.run(t, "", "watch", "--owner", "lead", "demo", "--until-complete"); after != notes {
		t.Errorf("a refused note was recorded: %s", after)
	}
}
