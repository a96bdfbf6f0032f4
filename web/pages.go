package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/article"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/internal/printable"
	"github.com/sequent-dev/sequent/internal/redact"
)

//go:embed ui/*.css ui/*.js
var files embed.FS

// A page is one HTML file, with its scripts and styles.
type page struct {
	policy string // content security policy, which admits these and nothing else
	text   string
	tag    string // changes with the page
	packed []byte // the page without data, compressed
}

// pages has the pages by their first module. All views of the viewer are one page, whose script reads
// the path.
var pages = map[string]func() *page{
	"app.js":    sync.OnceValue(func() *page { return newPage("app.js", "; connect-src 'self'") }),
	"linked.js": sync.OnceValue(func() *page { return newPage("linked.js", "; connect-src 'self'") }),
	"chat.js":   sync.OnceValue(func() *page { return newPage("chat.js", "") }),
}

// newPage puts a module, the modules that it imports and the styles into one page. Sources are what the
// page may load besides.
func newPage(entry, sources string) *page {
	script := "'use strict';\nconst modules = {};\n" + bundle(entry, make(map[string]bool))
	style := withoutComments(source("article.css") + source("style.css"))
	p := &page{
		policy: "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) + sources +
			"; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types article",
	}
	p.text = head("sequent", p.policy, style) + `<noscript>This page needs JavaScript. Without it, read sessions with sequent show.</noscript>
` + "<script>" + script + "</script>\n</body>\n</html>\n"
	p.tag = `"` + hash(p.text)[len("'sha256-"):][:16] + `"`
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a valid level
	_, _ = z.Write([]byte(p.text))                        // to memory
	_ = z.Close()
	p.packed = b.Bytes()
	return p
}

// servePage answers a request for the page of a view.
func servePage(w http.ResponseWriter, r *http.Request) {
	header, entry := w.Header(), ""
	switch view := strings.TrimPrefix(r.URL.Path, PagesPrefix); {
	case view == "" || view == "signin" || strings.HasPrefix(view, "s/"):
		entry = "app.js"
	case view == "link" || strings.HasPrefix(view, "link/"):
		entry = "linked.js"
	default:
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	p := pages[entry]()
	header.Set("Content-Security-Policy", p.policy+"; frame-ancestors 'none'")
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", p.tag)
	header.Set("Vary", "Accept-Encoding")
	switch {
	case r.Header.Get("If-None-Match") == p.tag:
		w.WriteHeader(http.StatusNotModified)
	case strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"):
		header.Set("Content-Encoding", "gzip")
		_, _ = w.Write(p.packed) // the client may have closed the connection
	default:
		_, _ = w.Write([]byte(p.text))
	}
}

// File returns a session as one HTML file, which shows its article in any browser, without a script, and loads nothing.
// Found is what was masked in the session; the file lists it. The same session gives the same file. It ends with an
// error when ctx is done.
func File(ctx context.Context, s *sequent.Session, found []redact.Finding) ([]byte, error) {
	text, err := article.HTML(ctx, s, article.Options{All: true})
	if err != nil {
		return nil, err
	}
	style := withoutComments(source("article.css"))
	var b bytes.Buffer
	b.WriteString(head(article.Title(s), "default-src 'none'; style-src "+hash(style)+"; base-uri 'none'; form-action 'none'", style))
	b.WriteString("<main>\n")
	b.Write(text)
	if len(found) > 0 {
		b.WriteString(`<details class="masked"><summary>What was masked</summary><table><thead><tr><th scope="col">Thought<th scope="col">Field<th scope="col">Found by<th scope="col">Times</thead><tbody>`)
		for _, f := range found {
			where := "session"
			if f.Thought > 0 {
				where = fmt.Sprintf(`<a href="#t%d">@%d</a>`, f.Thought, f.Thought)
			}
			fmt.Fprintf(&b, "<tr><td>%s<td>%s<td>%s<td>%d", where, html.EscapeString(printable.Line(f.Field)), html.EscapeString(f.Pattern), f.Count)
		}
		b.WriteString("</tbody></table></details>\n")
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	return b.Bytes(), nil
}

// head returns the beginning of a page.
func head(title, policy, style string) string {
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="` + policy + `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>` + html.EscapeString(title) + `</title>
<style>` + style + `</style>
</head>
<body>
`
}

// hash returns the source of a content security policy that admits a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// source returns a file of the pages.
func source(name string) string {
	text, err := files.ReadFile("ui/" + name)
	if err != nil {
		panic("web: " + err.Error()) // a module imports what is not embedded
	}
	return string(text)
}

var (
	importing = lazyregexp.New(`(?m)^import \{([^}]*)\} from '\./([a-z]+\.js)';\n`)
	exported  = lazyregexp.New(`(?m)^export ((?:async )?(?:const|function|class)) (\w+)`)
)

// bundle returns a module, after those that it imports, as functions that return what the
// module exports. Modules import from each other by name, in lines of their own.
func bundle(name string, done map[string]bool) string {
	if done[name] {
		return ""
	}
	done[name] = true
	text, before := withoutComments(source(name)), ""
	for _, m := range importing().FindAllStringSubmatch(text, -1) {
		before += bundle(m[2], done)
	}
	text = importing().ReplaceAllStringFunc(text, func(line string) string {
		m := importing().FindStringSubmatch(line)
		return fmt.Sprintf("const {%s} = modules.%s;\n", strings.ReplaceAll(m[1], " as ", ": "), nameOf(m[2]))
	})
	var names []string
	for _, m := range exported().FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
	}
	text = exported().ReplaceAllString(text, "$1 $2")
	return before + fmt.Sprintf("modules.%s = (() => {\n%sreturn { %s };\n})();\n", nameOf(name), text, strings.Join(names, ", "))
}

func nameOf(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

var (
	comments = lazyregexp.New(`(?ms)^\s*/\*.*?\*/\s*?$\n?|^\s*//.*?$\n?`)
	types    = lazyregexp.New(`/\*\* @type \{.*?\} \*/ ?`)
	indents  = lazyregexp.New(`(?m)^\s+`)
)

// withoutComments returns a script or style sheet without the lines that are comments,
// the types and the indentation. The modules in the folder ui are for readers.
func withoutComments(text string) string {
	return indents().ReplaceAllString(comments().ReplaceAllString(types().ReplaceAllString(text, ""), ""), "")
}
