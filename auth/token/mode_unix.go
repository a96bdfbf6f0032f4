//go:build unix

package token

import (
	"fmt"
	"io/fs"
)

// checkMode refuses a file that people other than its owner can change, or that
// everyone can read. A group that reads it is how servers are often given secrets.
func checkMode(m fs.FileMode) error {
	if m.Perm()&0o027 != 0 {
		return fmt.Errorf("its mode is %#o, which lets others at it: chmod 600", m.Perm())
	}
	return nil
}
