package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sequent-dev/sequent/internal/durable"
)

// A receipt says what was inserted into a file, so that it can be taken out byte for byte.
type receipt struct {
	File    string   `json:"file"`
	Created bool     `json:"created"`        // the file did not exist
	Dirs    []string `json:"dirs,omitempty"` // directories that did not exist
	Old     string   `json:"old"`            // what was replaced: blanks, or null
	New     string   `json:"new"`
	Servers bool     `json:"servers,omitempty"` // the object of servers did not exist
}

// find returns where the inserted text is. It reports false if the text has changed.
func (r receipt) find(text []byte) (at int, ok bool) {
	if r.New == "" || bytes.Count(text, []byte(r.New)) != 1 {
		return 0, false
	}
	return bytes.Index(text, []byte(r.New)), true
}

// undo returns the text without what was inserted.
func (r receipt) undo(text []byte) ([]byte, bool) {
	at, ok := r.find(text)
	if !ok {
		return nil, false
	}
	return edit{at: at, old: []byte(r.New), new: []byte(r.Old)}.apply(text), true
}

// grow returns the receipt after a change of the inserted text from before to after. If
// something else changed too, it is an empty receipt.
func (r receipt) grow(before, after []byte) receipt {
	at, ok := r.find(before)
	if !ok {
		return receipt{}
	}
	head, tail := before[:at], before[at+len(r.New):]
	if len(after) < len(head)+len(tail) || !bytes.HasPrefix(after, head) || !bytes.HasSuffix(after, tail) {
		return receipt{}
	}
	r.New = string(after[at : len(after)-len(tail)])
	return r
}

// receiptFile returns the name of the receipt for a file.
func (s Setup) receiptFile(file string) string {
	sum := sha256.Sum256([]byte(file))
	return filepath.Join(s.Data, "receipts", hex.EncodeToString(sum[:8])+".json")
}

// receipt returns the receipt for a file. A receipt that cannot be read counts as none:
// the entry can be removed without it.
func (s Setup) receipt(file string) receipt {
	var r receipt
	text, err := os.ReadFile(s.receiptFile(file))
	if err != nil || json.Unmarshal(text, &r) != nil || r.File != file {
		return receipt{}
	}
	return r
}

// keepReceipt writes a receipt; without inserted text it removes the one of the file.
func (s Setup) keepReceipt(r receipt) error {
	name := s.receiptFile(r.File)
	if r.New == "" {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	old, err := readFile(name)
	if err != nil {
		return err
	}
	return old.replace(text, 0o600)
}

// keepCopy copies a file before it is changed, readable by the user only, and returns
// where.
func (s Setup) keepCopy(f configFile) (string, error) {
	dir := filepath.Join(s.Data, "copies")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := s.Now().UTC().Format("20060102-150405.000") + "-" + filepath.Base(f.path)
	if err := durable.WriteTemp(root, name, 0o600, content(f.text)); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		name = time.Now().UTC().Format("20060102-150405.000000000") + "-" + filepath.Base(f.path)
		if err := durable.WriteTemp(root, name, 0o600, content(f.text)); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, name), durable.SyncDir(root, ".")
}
