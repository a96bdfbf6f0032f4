package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

func TestLocate(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, home)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	abs := filepath.Join(home, "x", "s.db")
	tests := []struct {
		store string
		want  Place
	}{
		{"memory", Place{Memory: true}},
		{":memory:", Place{Memory: true}},
		{abs, Place{Path: abs}},
		{"sqlite:" + abs, Place{Path: abs}},
		{"s.db", Place{Path: filepath.Join(here, "s.db")}},
		{"sqlite:s.db", Place{Path: filepath.Join(here, "s.db")}},
		{"~/s.db", Place{Path: filepath.Join(home, "s.db")}},
		{"sqlite:~/s.db", Place{Path: filepath.Join(home, "s.db")}},
		{"~s.db", Place{Path: filepath.Join(here, "~s.db")}},
		{"postgres", Place{Path: filepath.Join(here, "postgres")}},
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, struct {
			store string
			want  Place
		}{"sqlite:///x/s.db", Place{Path: "/x/s.db"}})
	}
	for _, tt := range tests {
		if got, err := Locate(tt.store); err != nil || got != tt.want {
			t.Errorf("Locate(%q) = %+v, %v; want %+v", tt.store, got, err, tt.want)
		}
		if tt.want.Path == "" {
			continue
		}
		if got, err := Locate(tt.want.String()); err != nil || got != tt.want {
			t.Errorf("Locate(%q) = %+v, %v; want %+v", tt.want, got, err, tt.want)
		}
	}
	for _, store := range []string{"mysql://h/d", "http://h", "sqlite:", "sqlite://"} {
		got, err := Locate(store)
		if e, ok := errors.AsType[*sequent.Error](err); !ok || e.Code != sequent.CodeUsage || e.Fix == "" {
			t.Errorf("Locate(%q) = %+v, %v; want a usage error with a fix", store, got, err)
		}
	}
}

func TestLocateDatabase(t *testing.T) {
	for store, want := range map[string]string{
		"postgres://h/d": "postgres://h/d",
		"postgresql://user:s3cret@h:5433/d?search_path=x&password=s3cret": "postgresql://user@h:5433/d",
		"postgres://user:s3cret@h:port/d":                                 "postgres://…",
	} {
		got, err := Locate(store)
		if err != nil || got.String() != want {
			t.Errorf("Locate(%q) = %s, %v; want %s", store, got, err, want)
		}
		if address, ok := got.Database(); !ok || address != store {
			t.Errorf("Locate(%q).Database() = %q, %t", store, address, ok)
		}
		for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(format, got); strings.Contains(text, "s3cret") {
				t.Errorf("format %s prints the password: %s", format, text)
			}
		}
	}
}

func TestDataDir(t *testing.T) {
	home := t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, home)
	}
	local := filepath.Join(home, "local")
	tests := []struct {
		goos, xdg, local string
		want             string
	}{
		{"linux", "", "", filepath.Join(home, ".local", "share")},
		{"linux", filepath.Join(home, "xdg"), "", filepath.Join(home, "xdg")},
		{"linux", "relative", "", filepath.Join(home, ".local", "share")},
		{"darwin", filepath.Join(home, "xdg"), "", filepath.Join(home, "Library", "Application Support")},
		{"windows", "", local, local},
		{"windows", "", "", filepath.Join(home, "AppData", "Local")},
	}
	for _, tt := range tests {
		t.Setenv("XDG_DATA_HOME", tt.xdg)
		t.Setenv("LocalAppData", tt.local)
		if got, err := dataDir(tt.goos); err != nil || got != tt.want {
			t.Errorf("%+v: got %q, %v", tt, got, err)
		}
	}
}
