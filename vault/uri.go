package vault

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/printable"
)

// A URI names a note: memory://a/b.md is the file a/b.md of the vault. [ParseURI] and
// [PathURI] return canonical URIs: one for each file, with its extension and
// percent-encoded. Functions with a URI argument accept what ParseURI accepts.
type URI string

const (
	scheme    = "memory://"
	extension = ".md"

	maxNameBytes = 240  // of one element; file systems allow 255, and editors add suffixes
	maxPathBytes = 1024 // of the whole path
)

// ParseURI returns the canonical form of a URI: .md may be missing, and characters may be
// percent-encoded or not. An error has the code CodeInvalidURI.
func ParseURI(s string) (URI, error) {
	p, err := pathOf(s)
	if err != nil {
		return "", err
	}
	return uriOf(p), nil
}

// PathURI returns the URI of the note at a slash-separated path in the vault; .md may be
// missing.
func PathURI(p string) (URI, error) {
	p, err := checkPath(p, p)
	if err != nil {
		return "", err
	}
	return uriOf(p), nil
}

// Path returns the slash-separated path of the note's file in the vault; empty for a URI
// that ParseURI refuses.
func (u URI) Path() string {
	p, err := pathOf(string(u))
	if err != nil {
		return ""
	}
	return p
}

// Name returns the name of the note's file without .md.
func (u URI) Name() string {
	base := path.Base("/" + u.Path())
	if isNote(base) {
		base = base[:len(base)-len(extension)]
	}
	return strings.TrimPrefix(base, "/")
}

// FolderPath returns the slash-separated path of a folder from its URI, such as
// memory://ideas/, with a slash at its end; empty for the vault itself, which the empty
// URI names too.
func FolderPath(uri string) (string, error) {
	if uri == "" || strings.EqualFold(uri, scheme) {
		return "", nil
	}
	p, err := pathOf(strings.TrimRight(uri, "/") + "/x")
	return strings.TrimSuffix(p, "x"+extension), err
}

// FolderURI returns the URI of a folder's path, which ends in a slash or is empty.
func FolderURI(p string) string { return string(uriOf(p)) }

// uriOf returns the URI of a checked path.
func uriOf(p string) URI {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return URI(scheme + strings.Join(parts, "/"))
}

func infoOf(p string, info fs.FileInfo) Info {
	return Info{URI: uriOf(p), Path: p, Size: info.Size(), Modified: info.ModTime()}
}

func pathOf(s string) (string, error) {
	begin := min(len(scheme), len(s))
	p, err := url.PathUnescape(s[begin:])
	switch {
	case !strings.EqualFold(s[:begin], scheme):
		return "", invalidURI(s, "it does not begin with memory://")
	case strings.ContainsAny(s, "?#"):
		return "", invalidURI(s, "it holds a ? or a #; in a name write %3F or %23 for it")
	case strings.Contains(strings.ToUpper(s), "%2F"):
		return "", invalidURI(s, "a name holds an encoded slash")
	case err != nil:
		return "", invalidURI(s, "after a % there are not two hexadecimal digits; write %25 for a percent sign")
	}
	return checkPath(p, s)
}

// checkPath returns the path of a note with its extension. It refuses paths that are
// invalid on any system. The error quotes given.
func checkPath(p, given string) (string, error) {
	if p != "" && !strings.HasSuffix(p, "/") && !isNote(p) {
		p += extension
	}
	if len(p) > maxPathBytes {
		return "", invalidURI(given, fmt.Sprintf("it is longer than %d bytes", maxPathBytes))
	}
	for name := range strings.SplitSeq(p, "/") {
		if why := badName(name); why != "" {
			return "", invalidURI(given, why)
		}
	}
	if path.Base(p) == extension {
		return "", invalidURI(given, "it has no name")
	}
	return p, nil
}

// isNote reports whether a file's name is that of a note.
func isNote(name string) bool {
	n := len(name) - len(extension)
	return n >= 0 && strings.EqualFold(name[n:], extension)
}

// badName returns why a file or folder of that name cannot belong to a note; empty if
// it can. It refuses names that have another meaning on some system, and names that a
// person cannot tell apart: vaults are copied between systems, and a file on one must
// not be a device on another.
func badName(name string) string {
	switch {
	case name == "":
		return "one of its names is empty"
	case name == "." || name == "..":
		return "one of its names is . or .."
	case name[0] == '.':
		return "names of notes do not begin with a dot"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("one of its names is longer than %d bytes", maxNameBytes)
	case !utf8.ValidString(name):
		return "it is not valid UTF-8"
	case strings.Trim(name, " ") != name || strings.HasSuffix(name, "."):
		return "one of its names begins with a space, or ends in a space or a dot"
	case isDevice(name):
		return "one of its names is that of a device on Windows"
	case strings.ContainsAny(name, `<>:"|?*\`+"\n\t\u2028\u2029"):
		return `one of its names holds a character of <>:"|?*\, which not every system allows, or a line break`
	}
	if shown := printable.Text(name); shown != name {
		return "one of its names holds an invisible character: " + shown
	}
	return ""
}

// isDevice reports whether a name is that of a device on Windows, with any extension.
func isDevice(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	name = strings.ToLower(strings.TrimRight(name, " "))
	if port, digit := utf8.DecodeLastRuneInString(name); strings.ContainsRune("0123456789¹²³", port) {
		name = name[:len(name)-digit] + "0"
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul", "conin$", "conout$", "clock$", "com0", "lpt0"}, name)
}

func invalidURI(given, why string) error {
	return sequent.Errorf(CodeInvalidURI, "uri", "use memory://folder/name.md",
		"%q cannot name a note: %s", printable.Short(given, 100), why)
}
