// Package picture makes the pictures of the documentation as SVG: recordings of a terminal
// and plots of measurements, each for light and dark pages.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Theme holds the colours of a picture. All have a contrast of at least 4.5 to the
// background, except those of lines.
type Theme struct {
	Name string // light or dark, at the end of the name of a file

	background, text, faint, line string
	bright                        string // marks what is newest
	lanes                         [6]string
}

// Themes are the two variants of each picture.
var Themes = []Theme{
	{
		Name: "light", background: "#ffffff", text: "#1f2328", faint: "#59636e", line: "#d1d9e0", bright: "#cf222e",
		lanes: [6]string{"#0b6f8a", "#8250df", "#0969da", "#8a5a00", "#1a7f37", "#bc4c00"},
	},
	{
		Name: "dark", background: "#0d1117", text: "#e6edf3", faint: "#9198a1", line: "#3d444d", bright: "#ff7b72",
		lanes: [6]string{"#56c8dc", "#d2a8ff", "#79c0ff", "#e3b341", "#56d364", "#ffa657"},
	},
}

// File returns the name of the file of a picture in a theme.
func File(name string, t Theme) string { return name + "-" + t.Name + ".svg" }

// Reference returns the HTML by which a Markdown page shows a picture, in the variant that
// the reader prefers. Dir is the path from the page to the pictures.
func Reference(dir, name, description string) string {
	return fmt.Sprintf("<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"%s\">\n<img alt=\"%s\" src=\"%s\">\n</picture>\n",
		dir+"/"+File(name, Themes[1]), escape(description), dir+"/"+File(name, Themes[0]))
}

// Check returns an error if a picture in a folder is not the given one; with update set it
// writes it.
func Check(dir, name string, of func(Theme) string, update bool) error {
	for _, t := range Themes {
		file, want := filepath.Join(dir, File(name, t)), of(t)
		if update {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				return err
			}
		}
		got, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if string(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))) != want { // Git may check files out with CRLF
			return fmt.Errorf("%s is stale, run make pictures", file)
		}
	}
	return nil
}

// escape returns a text for XML.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

// num returns a coordinate with at most one decimal.
func num(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
