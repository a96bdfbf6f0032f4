package token

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRevoke(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tokens")
	before := "\ufeffalice:" + hashOf("a") + "\r\n# a comment: stays\n\n bob : " + strings.ToUpper(hashOf("b")) + "\n" +
		strings.Repeat("é", maxSubject) + ":" + hashOf("c") + "\nbob:" + hashOf("d") // no line ending
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := List(path)
	if err != nil || len(list) != 4 || list[1] != (Info{ID: ID("b"), Subject: "bob"}) {
		t.Fatalf("List = %v, %v", list, err)
	}
	for _, unknown := range []string{"", "nosuch", ID("x"), hashOf("a"), "sequent_x", "bob"} {
		if revoked, err := Revoke(path, ID("a"), unknown); err == nil || revoked != nil {
			t.Errorf("Revoke(%q) = %v, %v; want an error", unknown, revoked, err)
		}
		if after, _ := os.ReadFile(path); string(after) != before {
			t.Fatalf("a failed Revoke(%q) changed the file to %q", unknown, after)
		}
	}
	revoked, err := Revoke(path, ID("a"), "b", strings.ToUpper(ID("c")))
	if err != nil || len(revoked) != 3 || revoked[1].Subject != "bob" {
		t.Fatalf("Revoke = %v, %v", revoked, err)
	}
	after, err := os.ReadFile(path)
	if err != nil || len(after) != len(before) || !strings.Contains(string(after), "# a comment: stays\n") {
		t.Errorf("the file has %d bytes, want %d: %q (%v)", len(after), len(before), after, err)
	}
	if list, err := List(path); err != nil || len(list) != 1 || list[0].ID != ID("d") {
		t.Errorf("after Revoke, List = %v, %v; want only the last token", list, err)
	}
	if _, err := Revoke(path, "a"); err == nil {
		t.Error("second Revoke of a token = nil, want an error")
	}
	// Add still works after Revoke.
	secret, err := Add(path, "carol")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{"a": "", "b": "", "c": "", "d": "bob", secret: "carol"} {
		if got, _ := f.Subject(t.Context(), token); got != want {
			t.Errorf("Subject(%q) = %q, want %q", token, got, want)
		}
	}
}
