package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"strings"

	"github.com/sequent-dev/sequent"
)

// longestName keeps what is made of an id well below the 255 bytes that file
// systems allow for a name.
const longestName = 180

// reserved are the names that Windows keeps for devices. Names with a dot in
// them need no thought: a dot is escaped.
var reserved = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)

// folder returns the folder of a session below the archive's directory: its id,
// and for a session with an owner the owner's folder before it.
func folder(k sequent.Key) string {
	if k.Owner == "" {
		return encodeName(string(k.ID))
	}
	return path.Join("@"+encodeName(k.Owner), encodeName(string(k.ID)))
}

// encodeName makes a file name of any text: the same one for the same text, and
// another for every other, also where file systems take upper and lower case, or
// composed and decomposed characters, for the same. Ids as programs make them,
// of lower-case letters, digits, hyphens and underscores, stay as they are.
// Other bytes become %XX; what gets too long ends in a hash instead.
func encodeName(text string) string {
	const hexDigits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&15])
		}
	}
	name := b.String()
	switch {
	case name == "":
		return "%"
	case reserved.MatchString(name):
		return "%" + strings.ToUpper(hex.EncodeToString([]byte{name[0]})) + name[1:]
	case len(name) > longestName:
		sum := sha256.Sum256([]byte(text))
		return name[:longestName-65] + "~" + hex.EncodeToString(sum[:])
	}
	return name
}
