package setup

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// CursorLink returns a link that offers to add the server to Cursor. It names a program on
// the PATH, because a page does not know where it is.
func CursorLink(s Server) (string, error) {
	text, err := linkEntry("cursor", s, nil)
	if err != nil {
		return "", err
	}
	query := url.Values{"name": {EntryName}, "config": {base64.StdEncoding.EncodeToString([]byte(text))}}
	return "cursor://anysphere.cursor-deeplink/mcp/install?" + query.Encode(), nil
}

// VSCodeLink returns a link that offers to add the server to VS Code.
func VSCodeLink(s Server) (string, error) {
	text, err := VSCodeJSON(s)
	// VS Code does not read + as a blank.
	return "vscode:mcp/install?" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), err
}

// VSCodeJSON returns the argument of code --add-mcp that adds the server to VS Code.
func VSCodeJSON(s Server) (string, error) {
	return linkEntry("vscode", s, []field{{key: "name", value: EntryName}})
}

func linkEntry(id string, s Server, first []field) (string, error) {
	c, _ := Lookup(id)
	fields, err := c.fields(s, false)
	return jsonStyle{}.render(append(first, fields...), ""), err
}
