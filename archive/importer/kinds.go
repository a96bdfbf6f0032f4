package importer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/sequent-dev/sequent/archive"
	"github.com/sequent-dev/sequent/archive/internal/jsonwalk"
)

// A Kind is a file format of sessions.
type Kind string

// The supported kinds.
const (
	Export      Kind = "sequent"      // what sequent export writes as JSON
	SessionFile Kind = "session-file" // session.json of sequentialthinking-plus and of our classic
	Maenifold   Kind = "maenifold"    // a Markdown file of a thinking session
	Arben       Kind = "arben-adm"    // current_session.jsonl of mcp-sequential-thinking, and its exports
)

// A KindInfo describes a kind in words.
type KindInfo struct {
	Kind Kind
	Is   string // description of its files
}

// Kinds returns the supported kinds.
func Kinds() []KindInfo {
	return []KindInfo{
		{Export, "a session that sequent export wrote as JSON"},
		{SessionFile, "a session.json of sequentialthinking-plus or of sequent serve --dialect classic"},
		{Maenifold, "a Markdown session of Maenifold, with type: sequential in its front matter"},
		{Arben, "a current_session.jsonl of arben-adm's mcp-sequential-thinking, or an export of it"},
	}
}

// errUnknown is the error of a file of no supported kind.
var errUnknown = errors.New("not a recognised session file")

// supported lists the supported formats, as the fix of an error.
func supported() string {
	var b strings.Builder
	b.WriteString("supported formats: ")
	for i, k := range Kinds() {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(k.Is)
	}
	return b.String()
}

// errStop ends a walk early.
var errStop = errors.New("stop")

// kindOf determines the kind of a file by its contents.
func kindOf(r io.Reader) (Kind, error) {
	br := bufio.NewReaderSize(r, 64<<10)
	start, err := br.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	start, bom := bytes.CutPrefix(start, []byte("\uFEFF"))
	if bom {
		_, _ = br.Discard(3) // cannot fail after Peek
	}
	start = bytes.TrimLeft(start, " \t\r\n")
	switch {
	case len(start) == 0:
		return "", errors.New("the file is empty")
	case bytes.HasPrefix(start, []byte("---")):
		return markdownKind(br)
	case start[0] == '{':
		return jsonKind(br)
	case bytes.IndexByte(start, 0) >= 0:
		return "", errors.New("the file is not text")
	}
	return "", errUnknown
}

// jsonKind determines the kind by the members of the first object.
func jsonKind(r io.Reader) (Kind, error) {
	var kind Kind
	w := jsonwalk.New(r)
	err := w.Object(func(name string) error {
		switch name {
		case "format":
			var format any
			if err := w.Value(&format); err != nil {
				return err
			}
			if format == archive.Format {
				kind = Export
				return errStop
			}
			return nil
		case "type":
			var what any
			if err := w.Value(&what); err != nil {
				return err
			}
			if what == "header" {
				kind = Arben
				return errStop
			}
			return nil
		case "thoughtHistory":
			kind = SessionFile
			return errStop
		case "thoughts":
			kind = Arben // unless a member format follows
		}
		return w.Skip()
	})
	switch {
	case kind != "":
		return kind, nil
	case err != nil:
		return "", err
	}
	return "", errUnknown
}

// markdownKind determines the kind by the type in the front matter.
func markdownKind(br *bufio.Reader) (Kind, error) {
	for n := range 200 {
		line, err := br.ReadString('\n')
		text := strings.TrimRight(line, " \t\r\n")
		if n > 0 && text == "---" || err != nil {
			break
		}
		if name, value, ok := strings.Cut(text, ":"); ok && name == "type" {
			if strings.Trim(strings.TrimSpace(value), `"'`) == "sequential" {
				return Maenifold, nil
			}
			return "", errUnknown
		}
	}
	return "", errUnknown
}
