package setup

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// CursorLink returns a link that offers to add the server to Cursor. It names a program on
// the PATH, because a page does not know where it is.
func CursorLink(s Server) (string, error) {
	query, err := cursorQuery(s)
	return "cursor://anysphere.cursor-deeplink/mcp/install?" + query, err
}

// CursorPage returns the address of a page of Cursor that opens [CursorLink], for pages that
// may not link to other programs.
func CursorPage(s Server) (string, error) {
	query, err := cursorQuery(s)
	return "https://cursor.com/en/install-mcp?" + query, err
}

func cursorQuery(s Server) (string, error) {
	text, err := linkEntry("cursor", s, nil)
	query := url.Values{"name": {EntryName}, "config": {base64.StdEncoding.EncodeToString([]byte(text))}}
	return query.Encode(), err
}

// VSCodeLink returns a link that offers to add the server to VS Code.
func VSCodeLink(s Server) (string, error) {
	text, err := VSCodeJSON(s)
	// VS Code does not read + as a blank.
	return "vscode:mcp/install?" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), err
}

// VSCodePage returns the address of a page of VS Code that opens [VSCodeLink], for pages that
// may not link to other programs.
func VSCodePage(s Server) (string, error) {
	link, err := VSCodeLink(s)
	return "https://insiders.vscode.dev/redirect?url=" + url.QueryEscape(link), err
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
