package command

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/durable"
)

// conversations remembers which sessions the conversations of clients think in: a file
// for each, with ids of sessions only, readable by its owner.
type conversations struct {
	dir string // of the program's data; a directory for the files is made in it
	now func() time.Time
}

const (
	maxConversationSessions = 5 // the latest
	conversationTTL         = 30 * 24 * time.Hour
	conversationFolder      = "conversations"
)

// remember records that a conversation thinks in a session now, and removes what was not
// used for 30 days.
func (c conversations) remember(conversation string, id sequent.ID) (err error) {
	dir := filepath.Join(c.dir, conversationFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ids, err := c.sessions(conversation)
	if err != nil {
		ids = nil // a file that cannot be read is written anew
	}
	if len(ids) > 0 && ids[0] == id {
		return os.Chtimes(filepath.Join(dir, conversationFile(conversation)), time.Time{}, c.now())
	}
	ids = slices.DeleteFunc(ids, func(old sequent.ID) bool { return old == id })
	ids = append([]sequent.ID{id}, ids...)
	ids = ids[:min(len(ids), maxConversationSessions)]
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	c.forget(root)
	return durable.WriteFile(root, conversationFile(conversation), 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(ids) })
}

// sessions returns the sessions of a conversation, the latest first.
func (c conversations) sessions(conversation string) (ids []sequent.ID, err error) {
	data, err := os.ReadFile(filepath.Join(c.dir, conversationFolder, conversationFile(conversation)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &ids)
	}
	return ids, err
}

// forget removes old files. What cannot be removed now is removed later.
func (c conversations) forget(root *os.Root) {
	now := c.now()
	files, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && now.Sub(info.ModTime()) > conversationTTL {
			_ = root.Remove(f.Name())
		}
	}
}

// conversationFile returns the name of a conversation's file.
func conversationFile(conversation string) string {
	return fmt.Sprintf("%x.json", sha256.Sum256([]byte(conversation)))
}
