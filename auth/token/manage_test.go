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
	before := "\ufeffalice:" + Hash("a") + "\r\n# a comment: stays\n\n bob : " + strings.ToUpper(Hash("b")) + "\n" +
		strings.Repeat("é", maxSubject) + ":" + Hash("c") + "\nbob:" + Hash("d") // without an end
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := List(path)
	if err != nil || len(list) != 4 || list[1] != (Info{ID: ID("b"), Subject: "bob"}) {
		t.Fatalf("List = %v, %v", list, err)
	}
	for _, unknown := range []string{"", "nosuch", ID("x"), Hash("a"), "sequent_x", "bob"} {
		if gone, err := Revoke(path, ID("a"), unknown); err == nil || gone != nil {
			t.Errorf("Revoke(%q) = %v, %v; want an error", unknown, gone, err)
		}
		if after, _ := os.ReadFile(path); string(after) != before {
			t.Fatalf("a refused Revoke(%q) changed the file to %q", unknown, after)
		}
	}
	gone, err := Revoke(path, ID("a"), "b", strings.ToUpper(ID("c")))
	if err != nil || len(gone) != 3 || gone[1].Subject != "bob" {
		t.Fatalf("Revoke = %v, %v", gone, err)
	}
	after, err := os.ReadFile(path)
	if err != nil || len(after) != len(before) || !strings.Contains(string(after), "# a comment: stays\n") {
		t.Errorf("the file has %d bytes, want %d: %q (%v)", len(after), len(before), after, err)
	}
	if list, err := List(path); err != nil || len(list) != 1 || list[0].ID != ID("d") {
		t.Errorf("afterwards List = %v, %v; want the last one", list, err)
	}
	if _, err := Revoke(path, "a"); err == nil {
		t.Error("a token is revoked twice")
	}
	// What is added afterwards is added to the right place.
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
			t.Errorf("token %q is %q's, want %q's", token, got, want)
		}
	}
}
