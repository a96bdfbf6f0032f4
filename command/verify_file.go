package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/internal/app"
	"github.com/sequent-dev/sequent/internal/draw"
	"github.com/sequent-dev/sequent/store/sqlite"
)

// file verifies an export or a backup, and its signature if there is a key.
func (v *verifying) file(ctx context.Context, name, key string) error {
	var signed *sequent.Hash // the head that the signature has
	if key != "" {
		var err error
		if signed, err = v.signed(name, key); err != nil {
			return err
		}
	}
	kind, err := firstBytes(name)
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(kind, "SQLite format 3\x00") && v.noted != nil:
		return &usageError{
			msg: "--head is the head of one session, and " + name + " is a backup",
			fix: "verify one session of a copy: sequent verify ID --store COPY --head HEAD",
		}
	case strings.HasPrefix(kind, "SQLite format 3\x00"):
		return v.backup(ctx, name)
	case key != "" && !strings.Contains(kind, archive.Format): // a form without hashes
		return v.signedHead(name, signed)
	}
	if v.noted == nil {
		v.noted = signed
	}
	h, entries, err := readExport(name)
	if err != nil {
		return err
	}
	return v.report(h, entries)
}

// signedHead reports the head in the signature of a file without hashes, which can be
// nil. It must be the one that was noted, if one was.
func (v *verifying) signedHead(name string, signed *sequent.Hash) error {
	switch {
	case v.noted != nil && (signed == nil || *signed != *v.noted):
		with := "without a head"
		if signed != nil {
			with = "with the head " + signed.String()
		}
		return &sequent.Error{
			Code: sequent.CodeInvalidSession, Field: "head",
			Msg: name + " was signed " + with + ", not with the one that you noted",
			Fix: "compare the head of the same session, noted when the file was signed",
		}
	case signed == nil || v.json:
		return nil
	}
	return v.print(draw.Line{{Text: "  head " + signed.String()}})
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
func (v *verifying) backup(ctx context.Context, name string) (err error) {
	dir, err := os.MkdirTemp("", "sequent-verify-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg := v.config()
	cfg.Store = filepath.Join(dir, "backup.db")
	_, err = app.Backup(ctx, name, sqlite.BackupConfig{To: cfg.Store, Progress: v.meter.share("copied")})
	v.meter.clear()
	if err != nil {
		return err
	}
	return v.withApp(ctx, app.OpenExisting, cfg, func(a *app.App) error { return v.all(ctx, a.Engine, true) })
}

func readExport(name string) (sequent.Header, []sequent.Entry, error) {
	f, err := os.Open(name)
	if err != nil {
		return sequent.Header{}, nil, err
	}
	defer f.Close() //nolint:errcheck // it only reads
	h, entries, err := archive.ReadJSON(f)
	if err != nil {
		return h, entries, &sequent.Error{
			Code: sequent.CodeInvalidSession, Msg: name + " is not an export: " + err.Error(),
			Fix: "name a file that sequent export --format json wrote, or the ID of a session",
		}
	}
	return h, entries, nil
}
