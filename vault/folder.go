package vault

import (
	"net/url"
	"strings"
)

// FolderPath returns the slash-separated path of a folder from its URI, such as
// memory://ideas/, with a slash at its end; empty for the vault itself, which the empty
// URI names too.
func FolderPath(uri string) (string, error) {
	if uri == "" || strings.EqualFold(uri, scheme) {
		return "", nil
	}
	p, err := pathOf(strings.TrimRight(uri, "/") + "/x")
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(p, "x.md"), nil
}

// FolderURI returns the URI of a folder's path, which ends in a slash or is empty.
func FolderURI(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return scheme + strings.Join(parts, "/")
}
