package vault

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sequent-dev/sequent"
)

// A URI names a note: memory://a/b.md is the file a/b.md of the vault. What
// [ParseURI] and [PathURI] return is canonical: one URI for each file, with its
// extension, percent-encoded as URIs are. Functions that take a URI accept what
// ParseURI accepts.
type URI string

const (
	scheme    = "memory://"
	extension = ".md"

	longestName = 240  // bytes of one element; file systems allow 255, and temporary names need some
	longestPath = 1024 // bytes of a whole path
)

// ParseURI returns the canonical URI of a note that somebody names: with or
// without .md at the end, with spaces and other characters as they are or
// percent-encoded. An error has the code CodeInvalidURI.
func ParseURI(s string) (URI, error) {
	p, err := pathOf(s)
	if err != nil {
		return "", err
	}
	return uriOf(p), nil
}

// PathURI returns the URI of the note at a slash-separated path in the vault,
// with or without .md at its end.
func PathURI(p string) (URI, error) {
	p, err := checkPath(p, p)
	if err != nil {
		return "", err
	}
	return uriOf(p), nil
}

// Path returns the slash-separated path of the note's file in the vault. It is
// empty for a URI that ParseURI does not accept.
func (u URI) Path() string {
	p, err := pathOf(string(u))
	if err != nil {
		return ""
	}
	return p
}

// Name returns the note's name, which is that of its file without .md.
func (u URI) Name() string {
	base := path.Base("/" + u.Path())
	if isNote(base) {
		base = base[:len(base)-len(extension)]
	}
	return strings.TrimPrefix(base, "/")
}

// uriOf returns the URI of a path that has been checked.
func uriOf(p string) URI {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return URI(scheme + strings.Join(parts, "/"))
}

func pathOf(s string) (string, error) {
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return "", invalidURI(s, "it does not begin with memory://")
	}
	rest := s[len(scheme):]
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		return "", invalidURI(s, fmt.Sprintf("it holds a %q; in a name write %%%X for it", rest[i:i+1], rest[i]))
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		if err != nil {
			return "", invalidURI(s, "after a % there are not two hexadecimal digits; write %25 for a percent sign")
		}
		if strings.Contains(name, "/") {
			return "", invalidURI(s, "a name holds an encoded slash")
		}
		parts[i] = name
	}
	return checkPath(strings.Join(parts, "/"), s)
}

// checkPath returns the path of a note, with its extension, if it is one that
// may be used on every system. Said is what the caller has named it.
func checkPath(p, said string) (string, error) {
	if p != "" && !strings.HasSuffix(p, "/") && !isNote(p) {
		p += extension
	}
	if len(p) > longestPath {
		return "", invalidURI(said, fmt.Sprintf("it is longer than %d bytes", longestPath))
	}
	for name := range strings.SplitSeq(p, "/") {
		if why := badName(name); why != "" {
			return "", invalidURI(said, why)
		}
	}
	if path.Base(p) == extension {
		return "", invalidURI(said, "it has no name")
	}
	return p, nil
}

// isNote reports whether a file's name is one of a note.
func isNote(name string) bool {
	n := len(name) - len(extension)
	return n >= 0 && strings.EqualFold(name[n:], extension)
}

// badName says why a file or folder of that name holds no notes; it is empty
// if it may. The names refused are those that mean something else to some
// system, or that a person cannot tell from another: a vault is copied between
// systems, and a name that is a file on one must not be a device on the next.
func badName(name string) string {
	switch {
	case name == "":
		return "one of its names is empty"
	case name == "." || name == "..":
		return "it leads out of the vault, or nowhere"
	case name[0] == '.':
		return "names that begin with a dot are not those of notes"
	case len(name) > longestName:
		return fmt.Sprintf("one of its names is longer than %d bytes", longestName)
	case !utf8.ValidString(name):
		return "it is not valid UTF-8"
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") || strings.HasPrefix(name, " "):
		return "one of its names begins with a space, or ends in a space or a dot"
	case reserved(name):
		return "one of its names is that of a device on Windows"
	}
	for _, r := range name {
		switch {
		case strings.ContainsRune(`<>:"|?*\`, r):
			return fmt.Sprintf("one of its names holds %q, which not every system allows", r)
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return fmt.Sprintf("one of its names holds the control character %U", r)
		case unicode.Is(unicode.Bidi_Control, r), r == '\uFEFF':
			return fmt.Sprintf("one of its names holds the invisible character %U", r)
		}
	}
	return ""
}

// reserved reports whether Windows takes a name for a device, whatever its
// extension.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$":
		return true
	}
	digit, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		digit, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && utf8.RuneCountInString(digit) == 1 && strings.Contains("0123456789¹²³", digit)
}

func invalidURI(said, why string) error {
	const most = 100
	if r := []rune(said); len(r) > most {
		said = string(r[:most]) + "…"
	}
	return &sequent.Error{
		Code: CodeInvalidURI, Field: "uri",
		Msg: fmt.Sprintf("%q cannot name a note: %s", said, why),
		Fix: "use memory://folder/name.md",
	}
}
