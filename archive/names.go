package archive

import (
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/sequent-dev/sequent"
)

// longestName is the maximum length of an encoded id in bytes. File systems allow 255
// bytes for a name.
const longestName = 180

// device matches the device names of Windows. Those with a dot cannot occur, because dots are escaped.
var device = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// folder returns the path of a session's folder in the archive's directory: its id,
// after the owner's folder if it has an owner.
func folder(k sequent.Key) string {
	if k.Owner == "" {
		return encodeName(string(k.ID))
	}
	return path.Join(ownersFolder(k.Owner), encodeName(string(k.ID)))
}

// ownersFolder returns the folder of an owner who is not the local user.
func ownersFolder(owner string) string { return "@" + encodeName(owner) }

// encodeName returns a unique file name for a text, also on file systems that ignore
// case or the composition of characters. Lower-case letters, digits, hyphens and
// underscores stay as they are, other bytes become %XX. Names that would be too long
// end in a hash.
func encodeName(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	switch {
	case name == "":
		return "%"
	case device.MatchString(name):
		return fmt.Sprintf("%%%02X", name[0]) + name[1:]
	case len(name) > longestName:
		return fmt.Sprintf("%s~%x", name[:longestName-65], sha256.Sum256([]byte(text)))
	}
	return name
}
