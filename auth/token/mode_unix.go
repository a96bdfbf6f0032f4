//go:build unix

package token

import (
	"fmt"
	"io/fs"
)

// checkMode rejects a file that the group can write or that others can access.
// The group may read it, because secrets are often deployed that way.
func checkMode(m fs.FileMode) error {
	if m.Perm()&0o027 != 0 {
		return fmt.Errorf("mode %#o gives other users access: chmod 600", m.Perm())
	}
	return nil
}
