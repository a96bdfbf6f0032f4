package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A backup while others write is a whole store, without deleted text.
func TestBackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	s := openAt(t, path)
	secrets(t, s, 5, 4)
	e := sequent.New(sequent.Config{Store: s})
	for i := range 5 {
		if err := e.Delete(t.Context(), sequent.ID(canary+"-"+string(rune('0'+i)))); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for ctx.Err() == nil {
			if _, err := e.Append(t.Context(), "live", sequent.Draft{Text: "egret"}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	to := filepath.Join(dir, "copy", "b.db")
	c, err := Backup(t.Context(), BackupConfig{From: path, To: to})
	stop()
	writer.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(to); err != nil || info.Size() != c.Bytes || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the backup is %v, %v, want mode 0600 and %d bytes", info, err, c.Bytes)
	}
	if found := leaks(t, to, canary); len(found) > 0 {
		t.Errorf("the text of deleted sessions is in %v", found)
	}
	for _, again := range []struct {
		cfg  BackupConfig
		want sequent.Code
	}{
		{BackupConfig{From: path, To: to}, sequent.CodeReadOnly},
		{BackupConfig{From: path, To: path, Force: true}, sequent.CodeReadOnly},
		{BackupConfig{From: path, To: dir, Force: true}, sequent.CodeReadOnly},
		{BackupConfig{From: path, To: to, Force: true}, ""},
	} {
		if _, err := Backup(t.Context(), again.cfg); sequent.CodeOf(err) != again.want {
			t.Errorf("Backup(%+v): %v, want the code %q", again.cfg, err, again.want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) != 1 {
		t.Errorf("files %v, want only the backup", left)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again := openAt(t, to)
	defer again.Close()
	finds(t, again, "heron", 5*4)
	intact(t, again)
}

func TestRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, path, backup := filepath.Join(dir, "from.db"), filepath.Join(dir, "s.db"), filepath.Join(dir, "backup.db")
	s := openAt(t, from)
	fill(t, s, "old", 7, "heron")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Backup(t.Context(), BackupConfig{From: from, To: backup}); err != nil {
		t.Fatal(err)
	}
	found := func(want int) {
		t.Helper()
		s := openAt(t, path)
		finds(t, s, "heron", want)
		intact(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	restore := func(force bool, want sequent.Code) {
		t.Helper()
		c, err := Restore(t.Context(), BackupConfig{From: backup, To: path, Force: force})
		if code := sequent.CodeOf(err); code != want || err == nil && (c.Sessions != 1 || c.Thoughts != 7) {
			t.Errorf("Restore with force %t = %+v, %v, want the code %q", force, c, err, want)
		}
	}
	restore(false, "") // there is no store
	found(7)
	restore(false, sequent.CodeReadOnly)

	other := openAt(t, path)
	fill(t, other, "new", 20, "heron")
	restore(true, sequent.CodeBusy)
	finds(t, other, "heron", 27)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	restore(true, "")
	found(7)

	noStore := bytes.Repeat([]byte("no database, and long enough for the header of one "), 3)
	write(t, path, noStore)
	restore(false, sequent.CodeCorrupt)
	restore(true, "")
	found(7)
	write(t, backup, noStore)
	restore(true, sequent.CodeCorrupt)
	found(7)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Backup(canceled, BackupConfig{From: path, To: backup, Force: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("Backup with a cancelled context: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("files %v are left", left)
	}
}
