package token

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sequent-dev/sequent/auth"
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
	if err != nil || len(list) != 4 || list[1] != (Info{ID: ID("b"), Subject: "bob", Scope: auth.Write}) {
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
	secret, _, err := Add(path, Info{Subject: "carol"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{"a": "", "b": "", "c": "", "d": "bob", secret: "carol"} {
		if got, _ := subjectOf(t, f, token); got != want {
			t.Errorf("subjectOf(%q) = %q, want %q", token, got, want)
		}
	}
}

// subjectOf returns the subject of a token; empty for one that is not valid.
func subjectOf(t *testing.T, f *File, token string) (string, error) {
	t.Helper()
	who, err := f.Identify(t.Context(), token)
	if _, invalid := errors.AsType[*auth.InvalidError](err); invalid {
		return "", nil
	}
	return who.Subject, err
}

// What is written after a hash limits the token.
func TestGrants(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens")
		day := time.Now().UTC().Truncate(24 * time.Hour)
		grants := []Info{
			{Subject: "team: alice"},
			{Subject: "bob", Scope: auth.Read, Expires: day.AddDate(0, 0, 2), Note: "reviews: #1"},
			{Subject: "lead", Scope: auth.Admin, Expires: day.Add(30 * time.Hour)},
		}
		var secrets []string
		for _, g := range grants {
			secret, _, err := Add(path, g)
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, secret)
		}
		list, err := List(path)
		if err != nil {
			t.Fatal(err)
		}
		want := []Info{
			{ID: ID(secrets[0]), Subject: "team: alice", Scope: auth.Write},
			{ID: ID(secrets[1]), Subject: "bob", Scope: auth.Read, Expires: day.AddDate(0, 0, 2), Note: "reviews: #1"},
			{ID: ID(secrets[2]), Subject: "lead", Scope: auth.Admin, Expires: day.Add(30 * time.Hour)},
		}
		if !reflect.DeepEqual(list, want) {
			t.Errorf("got  %+v\nwant %+v", list, want)
		}
		f, err := Open(Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if who, err := f.Identify(t.Context(), secrets[1]); err != nil || who.Scope != auth.Read || who.Subject != "bob" {
			t.Errorf("got %+v, %v", who, err)
		}
		for i, g := range grants { // so long counts what a token has made
			if got, err := f.Until(t.Context(), ID(secrets[i]), day); err != nil || !got.Equal(g.Expires) {
				t.Errorf("until %v, %v; want %v", got, err, g.Expires)
			}
		}
		time.Sleep(48 * time.Hour)
		_, err = f.Identify(t.Context(), secrets[1])
		if e, ok := errors.AsType[*auth.InvalidError](err); !ok || !strings.HasPrefix(e.Reason, "the token expired at ") {
			t.Errorf("got %v", err)
		}
		for _, id := range []string{ID(secrets[1]), "", "https://login.example.com"} {
			_, err := f.Until(t.Context(), id, day)
			if _, invalid := errors.AsType[*auth.InvalidError](err); !invalid {
				t.Errorf("%q: %v", id, err)
			}
		}
		if revoked, err := Revoke(path, ID(secrets[1])); err != nil || len(revoked) != 1 {
			t.Errorf("got %v, %v", revoked, err)
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "reviews") {
			t.Errorf("%s, %v", data, err)
		}
	})
	for _, g := range []Info{{}, {Subject: "a", Note: "two\nlines"}, {Subject: "a", Note: strings.Repeat("é", 201)}} {
		if _, _, err := Add(filepath.Join(t.TempDir(), "tokens"), g); err == nil {
			t.Errorf("Add(%+v) = nil, want an error", g)
		}
	}
	for _, rest := range []string{"scope=all", "scope=", "expires=tomorrow", "uses=3", "note"} {
		path := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(path, []byte("a:"+hashOf("a")+" "+rest+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := List(path); err == nil || !strings.Contains(err.Error(), "line 1: ") {
			t.Errorf("%q: got %v", rest, err)
		}
	}
}
