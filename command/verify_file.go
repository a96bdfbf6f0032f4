package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// file verifies an export or a backup, and its signature if there is a key.
func (v *verifying) file(ctx context.Context, name string) (result, error) {
	if v.key != "" {
		if err := v.signed(name, v.key); err != nil {
			return nil, err
		}
	}
	kind, err := firstBytes(name)
	isBackup := strings.HasPrefix(kind, "SQLite format 3\x00")
	switch {
	case err != nil:
		return nil, err
	case isBackup && v.noted != nil:
		return nil, &usageError{
			msg: "--head is the head of one session, and " + name + " is a backup",
			fix: "verify one session of a copy: sequent store verify ID --store COPY --head HEAD",
		}
	case isBackup:
		return v.backup(ctx, name)
	case v.key != "" && !strings.Contains(kind, archive.Format): // a form without hashes
		if v.noted != nil {
			return nil, &usageError{msg: "--head is the head of a session, and " + name + " has none", fix: "verify an export in JSON"}
		}
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if kind := archive.KindOf(data); kind != "" && kind != archive.KindExport { // of another program
		return &verification{Session: name}, errUnproven
	}
	h, entries, err := archive.ReadJSON(bytes.NewReader(data))
	if err != nil {
		return nil, sequent.Errorf(sequent.CodeInvalidSession, "", "name a file that sequent export --format json wrote, or the ID of a session",
			"%s is not an export: %s", name, err.Error())
	}
	return v.one(h, entries)
}

// firstBytes returns the first bytes of a file.
func firstBytes(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it only reads
	b := make([]byte, 64)
	n, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return string(b[:n]), err
}

// backup verifies all sessions of a backup. It reads a copy, because opening a store
// changes its file, and then the signature would not fit.
func (v *verifying) backup(ctx context.Context, name string) (found result, err error) {
	dir, err := os.MkdirTemp("", "sequent-verify-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg := v.config()
	cfg.Store = filepath.Join(dir, "backup.db")
	_, err = app.Backup(ctx, name, sqlite.BackupConfig{To: cfg.Store, Progress: v.meter.share("copied")})
	v.meter.clear()
	if err != nil {
		return nil, err
	}
	v.allOwners = true
	err = v.withApp(ctx, app.OpenExisting, cfg, func(a *app.App) (err error) {
		found, err = v.all(ctx, a.Engine)
		return err
	})
	return found, err
}
