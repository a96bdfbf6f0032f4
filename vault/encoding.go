package vault

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/sequent-dev/sequent"
)

// The byte order marks of UTF-16.
const (
	littleEndian = "\xFF\xFE"
	bigEndian    = "\xFE\xFF"
)

// UTF16 reports whether the note's file begins with a byte order mark of UTF-16. The
// Body of such a note is not text, and it has no front matter; see [Note.Decoded].
func (n *Note) UTF16() bool {
	return strings.HasPrefix(n.data, littleEndian) || strings.HasPrefix(n.data, bigEndian)
}

// Decoded returns the note for readers: a note in UTF-16 with its front matter and body
// in UTF-8, any other unchanged. The result must not be written.
//
// The error has the code CodeNotText if the file looks like UTF-16 without a byte order
// mark, or like another binary format: every fourth byte or more is zero.
func (n *Note) Decoded() (*Note, error) {
	if !n.UTF16() {
		text := strings.TrimRight(n.data, "\x00") // of an append that a crash interrupted
		if zeros := strings.Count(text, "\x00"); zeros > 0 && zeros >= len(text)/4 {
			return nil, notText(n.URI)
		}
		return n, nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasPrefix(n.data, bigEndian) {
		order = binary.BigEndian
	}
	raw := []byte(n.data[2:])
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	d := ParseNote(n.URI, []byte(string(utf16.Decode(units))))
	d.Info, d.stat = n.Info, n.stat
	return d, nil
}

func notText(uri URI) error {
	return &sequent.Error{
		Code: CodeNotText,
		Msg:  fmt.Sprintf("%s is not text in UTF-8, nor in UTF-16 with a byte order mark", uri),
		Fix:  "save it in UTF-8",
	}
}
