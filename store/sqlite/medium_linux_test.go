package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/diagnosis"
	"github.com/sequent-dev/sequent/internal/needtest"
)

// TestMediumFails makes system calls of a process fail, as a medium does that fails or is full:
// each error has the store's code and what to do, and advises to delete nothing.
func TestMediumFails(t *testing.T) {
	needtest.Long(t)
	t.Parallel()
	strace := needtest.Program(t, "strace", "apt-get install strace")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for inject, want := range map[string]string{ // codes
		// SQLite takes some pages that it cannot read for damaged ones.
		"pread64:error=EIO:when=25+":    "store_unavailable store_corrupt",
		"pread64:error=EIO:when=60+":    "store_unavailable store_corrupt",
		"pwrite64:error=EIO:when=1+":    "store_unavailable",
		"pwrite64:error=EIO:when=30+":   "store_unavailable",
		"fsync:error=EIO:when=3+":       "store_unavailable",
		"ftruncate:error=EIO:when=1+":   "store_unavailable",
		"pwrite64:error=ENOSPC:when=1+": "store_full store_unavailable", // the disk has room nevertheless
		"pwrite64:error=ENOSPC:when=9+": "store_full store_unavailable",
	} {
		t.Run(inject, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "sessions.db")
			filled(t, path, 20)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			name, _, _ := strings.Cut(inject, ":")
			cmd := exec.CommandContext(ctx, strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace="+name, "-e", "inject="+inject, self)
			cmd.Env = append(os.Environ(), childTask+"=medium", childStore+"="+path, childName+"="+want)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, bytes.TrimSpace(out))
			}
			if name != "fsync" {
				return
			}
			// What was refused because it could not be flushed is there after the crash.
			s := openAt(t, path)
			defer s.Close()
			_, log, err := s.Load(t.Context(), sequent.Key{ID: "a"}, sequent.Position{})
			if want := fmt.Sprintln(len(log)-1, "in doubt"); err != nil || string(out) != want {
				t.Errorf("after the crash: %d thoughts, error %v; the child printed %q, want %q", len(log), err, out, want)
			}
		})
	}
}

// mediumTask uses a store until it fails, and has it diagnosed.
func mediumTask() error {
	ctx, path, want := context.Background(), os.Getenv(childStore), os.Getenv(childName)
	s, err := Open(ctx, Config{Path: path})
	n := 20
	for ; err == nil && n < 320; n++ {
		_, err = sequent.New(sequent.Config{Store: s}).Ensure(ctx, "a", adding(fmt.Sprint(n)))
	}
	if e, ok := errors.AsType[*sequent.Error](err); ok && e.Uncertain && e.Fix == sequent.FixUncertain && strings.Contains(e.Msg, "may or may not") {
		fmt.Println(n-1, "in doubt")
		os.Exit(0)
	}
	if e, ok := errors.AsType[*sequent.Error](err); !ok || !strings.Contains(want, string(e.Code)) || e.Fix == "" {
		return fmt.Errorf("%w (code %s), want code %s and a fix", err, sequent.CodeOf(err), want)
	}
	findings, err := Diagnose(ctx, path)
	for _, f := range findings {
		if f.Status == diagnosis.OK {
			continue
		}
		for _, wrong := range []string{"unexpectedly", "report this", "delete", "remove", "rm "} {
			if f.Fix == "" || strings.Contains(f.Detail+" "+f.Fix, wrong) {
				err = errors.Join(err, fmt.Errorf("%s: %s: %s", f.Check, f.Detail, f.Fix))
			}
		}
	}
	return err
}
