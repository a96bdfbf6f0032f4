package gendocs

import (
	"bytes"
	_ "embed" // for the version and the blocks
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/sequent-dev/sequent/setup"
)

//go:embed released.txt
var released string

//go:embed published.md.tmpl
var blocks string

// Released returns the version that is published, or an empty string if there is none. It
// decides what the blocks of pages show. A release changes it.
func Released() string {
	if version := strings.TrimSpace(released); version != "none" {
		return version
	}
	return ""
}

var publishedBlock = regexp.MustCompile(`(?s)<!-- begin published (\S+): make generate -->\n.*?<!-- end published -->\n`)

// Published returns a page whose blocks say what holds when a version is published, or none
// if version is empty. A block is what stands between the comments "begin published NAME" and
// "end published".
func Published(page, version string) (string, error) {
	var failed error
	page = publishedBlock.ReplaceAllStringFunc(page, func(old string) string {
		name := publishedBlock.FindStringSubmatch(old)[1]
		text, err := Block(name, version)
		failed = errors.Join(failed, err)
		return text
	})
	return page, failed
}

// Block returns the block of a name, with its comments.
func Block(name, version string) (string, error) {
	t, err := template.New("").Parse(blocks)
	if err != nil {
		return "", err
	}
	data := struct{ Version, Plugin, Cursor, VSCode string }{Version: version, Plugin: `"$PWD"`}
	if version != "" {
		data.Plugin = "sequent-dev/sequent"
	}
	if data.Cursor, data.VSCode, err = buttons(); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- begin published %s: make generate -->\n", name)
	err = t.ExecuteTemplate(&b, name, data)
	b.WriteString("<!-- end published -->\n")
	return b.String(), err
}

// Publish writes the version to the checkout in dir, and the blocks of its pages.
func Publish(dir, version string) error {
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(file); {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "node_modules" || name == "dist"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md":
			return nil
		}
		page, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		// Git may check files out with CRLF.
		page = bytes.ReplaceAll(page, []byte("\r\n"), []byte("\n"))
		text, err := Published(string(page), version)
		if err != nil || text == string(page) {
			return err
		}
		return os.WriteFile(file, []byte(text), 0o644)
	})
	if err != nil {
		return err
	}
	if version == "" {
		version = "none"
	}
	return os.WriteFile(filepath.Join(dir, "internal", "gendocs", "released.txt"), []byte(version+"\n"), 0o644)
}

// buttons returns the addresses of the pages of Cursor and VS Code that offer to add the npm
// package as a server.
func buttons() (cursor, vscode string, err error) {
	npx := setup.Server{Command: "npx", Args: []string{"-y", "@sequent-dev/sequent", "serve"}}
	entry := func(id string) string {
		c, _ := setup.Lookup(id)
		text, failed := setup.Setup{}.Snippet(c, false, npx)
		var file map[string]map[string]json.RawMessage
		var b bytes.Buffer
		err = errors.Join(err, failed, json.Unmarshal([]byte(text), &file))
		err = errors.Join(err, json.Compact(&b, file[c.Servers][setup.EntryName]))
		return b.String()
	}
	query := url.Values{"name": {setup.EntryName}, "config": {base64.StdEncoding.EncodeToString([]byte(entry("cursor")))}}
	named := `{"name":"` + setup.EntryName + `",` + strings.TrimPrefix(entry("vscode"), "{")
	// VS Code reads the address in url as a whole, and does not read + as a blank.
	install := "vscode:mcp/install?" + strings.ReplaceAll(url.QueryEscape(named), "+", "%20")
	return "https://cursor.com/en/install-mcp?" + query.Encode(), "https://insiders.vscode.dev/redirect?url=" + url.QueryEscape(install), err
}
