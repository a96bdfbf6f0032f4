package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/auth"
)

const thinkServer = "https://think.example.com"

func TestCredentials(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "credentials.json")
	f := credentials{path}
	if _, err := f.get(thinkServer); !errors.Is(err, errNoSignIn) {
		t.Errorf("Get without a file: %v, want errNoSignIn", err)
	}
	if _, err := f.remove(t.Context(), thinkServer); !errors.Is(err, errNoSignIn) {
		t.Errorf("Remove without a file: %v, want errNoSignIn", err)
	}
	c := credential{Issuer: "https://login.example.com", SignIn: auth.SignIn{Client: "cli"}, Resource: thinkServer + "/mcp", Access: "a", Refresh: "r"}
	for _, one := range []credential{{Access: "old"}, c} {
		if err := errors.Join(f.put(t.Context(), thinkServer, one), f.put(t.Context(), "https://other.example.com", credential{Access: "o"})); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := f.get(thinkServer); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("Get = %+v, %v; want %+v", got, err, c)
	}
	state, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && state.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v; want mode 0600", state.Mode(), err)
	}
	if got, err := f.remove(t.Context(), thinkServer); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("Remove = %+v, %v; want %+v", got, err, c)
	}
	if got, err := f.get("https://other.example.com"); err != nil || got.Access != "o" {
		t.Errorf("the other server: %+v, %v", got, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := f.get("https://other.example.com"); err == nil {
		t.Error("a file that the group can read was accepted")
	}
}

// Any number of users of a file renew a token once, and all get the new one.
func TestRenewOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "credentials.json")
	past := time.Now().Add(-time.Minute)
	f := credentials{path}
	if err := f.put(t.Context(), thinkServer, credential{Access: "old", Refresh: "0", Expires: past}); err != nil {
		t.Fatal(err)
	}
	var renewed atomic.Int32
	renew := func(_ context.Context, c credential) (auth.Tokens, error) {
		if n := renewed.Add(1); c.Refresh != strconv.Itoa(int(n-1)) {
			t.Errorf("renewal %d has the refresh token %s", n, c.Refresh)
		}
		return auth.Tokens{Access: "new", Refresh: "1", Expires: time.Now().Add(time.Hour)}, nil
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if token, err := f.token(t.Context(), thinkServer, renew); err != nil || token != "new" {
				t.Errorf("Token = %q, %v", token, err)
			}
		})
	}
	wg.Wait()
	if n := renewed.Load(); n != 1 {
		t.Errorf("the token was renewed %d times, want once", n)
	}
}

func TestRenewFails(t *testing.T) {
	t.Parallel()
	f := credentials{filepath.Join(t.TempDir(), "credentials.json")}
	past := time.Now().Add(-time.Minute)
	away := errors.New("the provider is away")
	for name, c := range map[string]struct {
		refresh string
		err     error
		ended   bool
	}{
		"no refresh token": {"", nil, true},
		"refused":          {"r", &auth.InvalidError{Reason: "used before"}, true},
		"away":             {"r", away, false},
	} {
		kept := credential{Access: "old", Refresh: c.refresh, Expires: past.Round(0)}
		if err := f.put(t.Context(), thinkServer, kept); err != nil {
			t.Fatal(err)
		}
		_, err := f.token(t.Context(), thinkServer, func(context.Context, credential) (auth.Tokens, error) { return auth.Tokens{}, c.err })
		if _, ended := errors.AsType[*ConfigError](err); err == nil || ended != c.ended || c.err == away && !errors.Is(err, away) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := f.get(thinkServer); err != nil || got.Refresh != c.refresh || got.Access != "old" {
			t.Errorf("%s: the file has %+v, %v", name, got, err)
		}
	}
}
