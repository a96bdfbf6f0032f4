package thinking

import (
	"context"
	"encoding/json"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
)

// A mark records how far a file has been written, and its state then. A file in that state
// is continued without reading it. Marks are not flushed: after a crash they may be older
// than the file, never newer.
type mark struct {
	Path     string `json:"path"`
	Epoch    int64  `json:"epoch"`
	Version  int    `json:"version"`
	Seq      int    `json:"seq"`      // thoughts of the log that were written, even if their sections were deleted since
	Front    string `json:"front"`    // the state in the front matter
	Size     int64  `json:"size"`     // of the file
	Modified int64  `json:"modified"` // Unix time in nanoseconds
	Breaks   string `json:"breaks"`   // the line breaks of the file
}

// fits reports whether the file is in the state of the mark.
func (m *mark) fits(info vault.Info, epoch int64) bool {
	return m.Epoch == epoch && m.Path == info.URI.Path() && m.Size == info.Size && m.Modified == info.Modified.UnixNano()
}

// seqOf returns the number of thoughts that were written.
func (m *mark) seqOf(s *sequent.Session) int {
	if m.Epoch != s.Epoch() {
		return 0
	}
	return m.Seq
}

const markFolder = "thinking"

// readMark returns the mark of a session; the zero mark if it is missing or unreadable.
func (f *Files) readMark(ctx context.Context, id sequent.ID) mark {
	var m mark
	if data, err := f.vault.ReadState(ctx, markFolder, string(id)); err == nil && json.Unmarshal(data, &m) != nil {
		m = mark{}
	}
	return m
}

// writeMark writes the mark of a session. Without it, the next write reads the file.
func (f *Files) writeMark(id sequent.ID, m mark) {
	if data, err := json.Marshal(m); err == nil {
		_ = f.vault.WriteState(markFolder, string(id), append(data, '\n'))
	}
}
