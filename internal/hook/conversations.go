package hook

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

// Conversations remembers which sessions the conversations of clients think in: a file
// for each, with ids of sessions only, readable by its owner.
type Conversations struct {
	Dir string           // of the program's data; a directory for the files is made in it
	Now func() time.Time // nil means time.Now
}

const (
	maxSessions = 5 // of a conversation, the latest
	keptFor     = 30 * 24 * time.Hour
	folder      = "conversations"
)

// Remember records that a conversation thinks in a session now, and removes what was not
// used for 30 days.
func (c Conversations) Remember(conversation string, id sequent.ID) (err error) {
	dir := filepath.Join(c.Dir, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ids, err := c.Sessions(conversation)
	if err != nil {
		ids = nil // a file that cannot be read is written anew
	}
	if len(ids) > 0 && ids[0] == id {
		return os.Chtimes(filepath.Join(dir, name(conversation)), time.Time{}, c.now())
	}
	ids = slices.DeleteFunc(ids, func(old sequent.ID) bool { return old == id })
	ids = append([]sequent.ID{id}, ids...)
	ids = ids[:min(len(ids), maxSessions)]
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	c.forget(root)
	return durable.WriteFile(root, name(conversation), 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(ids) })
}

// Sessions returns the sessions of a conversation, the latest first.
func (c Conversations) Sessions(conversation string) (ids []sequent.ID, err error) {
	data, err := os.ReadFile(filepath.Join(c.Dir, folder, name(conversation)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &ids)
	}
	return ids, err
}

// forget removes old files. What cannot be removed now is removed later.
func (c Conversations) forget(root *os.Root) {
	now := c.now()
	files, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && now.Sub(info.ModTime()) > keptFor {
			_ = root.Remove(f.Name())
		}
	}
}

func (c Conversations) now() time.Time {
	if c.Now == nil {
		return time.Now()
	}
	return c.Now()
}

// name returns the name of a conversation's file.
func name(conversation string) string {
	return fmt.Sprintf("%x.json", sha256.Sum256([]byte(conversation)))
}
