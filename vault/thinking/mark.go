package thinking

import (
	"context"
	"encoding/json"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A mark notes how far a file has been written, and what it was like then: if it
// is still like that, it need not be read to be continued. Without a mark it is
// read. Marks are not flushed: they are as old as the file or older.
type mark struct {
	Path     string `json:"path"`
	Epoch    int64  `json:"epoch"`
	Version  int    `json:"version"`
	Seq      int    `json:"seq"`      // so many thoughts of the log have been written, whatever is there of them now
	Front    string `json:"front"`    // what front matter told
	Size     int64  `json:"size"`     // of the file afterwards
	Modified int64  `json:"modified"` // when, in nanoseconds of Unix time
	Breaks   string `json:"breaks"`   // what the file's lines end in
}

// fits reports whether the file is as it was when the mark was made.
func (m *mark) fits(info vault.Info, epoch int64) bool {
	return m.Epoch == epoch && m.Path == info.URI.Path() && m.Size == info.Size && m.Modified == info.Modified.UnixNano()
}

// seqOf returns how much of a session's log has been written.
func (m *mark) seqOf(s *sequent.Session) int {
	if m.Epoch != s.Epoch() {
		return 0
	}
	return m.Seq
}

const markFolder = "thinking"

// readMark returns the mark of a session; the zero mark if there is none, or
// none that can be read.
func (f *Files) readMark(ctx context.Context, id sequent.ID) mark {
	var m mark
	if data, err := f.vault.ReadState(ctx, markFolder, string(id)); err == nil && json.Unmarshal(data, &m) != nil {
		m = mark{}
	}
	return m
}

// writeMark makes the mark of a session. If that fails the file will be read.
func (f *Files) writeMark(id sequent.ID, m mark) {
	if data, err := json.Marshal(m); err == nil {
		_ = f.vault.WriteState(markFolder, string(id), append(data, '\n'))
	}
}
