package web

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/sequent-dev/sequent/internal/lazyregexp"
)

// A single is a page in one file, with its scripts and styles.
type single struct {
	before string // up to the data
	after  string
}

// singles returns the page in one file whose first module is entry.
var singles = map[string]func() single{
	"file.js": sync.OnceValue(func() single { return newSingle("file.js") }),
	"chat.js": sync.OnceValue(func() single { return newSingle("chat.js") }),
}

// newSingle puts a module, the modules that it imports and the styles into one page. Its
// policy admits these by their hashes and nothing else.
func newSingle(entry string) single {
	script := "'use strict';\nconst modules = {};\n" + bundle(entry, make(map[string]bool))
	style := withoutComments(source("style.css"))
	return single{
		before: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ` + hash(script) + `; style-src ` + hash(style) +
			`; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>sequent</title>
<style>` + style + `</style>
</head>
<body>
<noscript>This page needs JavaScript, which it holds itself. It asks no server for anything.</noscript>
`,
		after: "<script>" + script + "</script>\n</body>\n</html>\n",
	}
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
