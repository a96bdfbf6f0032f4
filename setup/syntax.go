package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// A syntax changes text in one format. Its methods change only what they are told to
// change; the caller parses the result and compares it.
//
// A path is a list of keys that leads to a value. The text has no byte order mark, and
// uses one kind of line ending.
type syntax interface {
	// parse returns the content of a text. Whole numbers are int64, others text. A text without
	// any content is an empty map. Errors are *SyntaxError.
	parse(text []byte) (map[string]any, error)
	// insert adds a value that does not exist, and the objects that lead to it.
	insert(text []byte, path []string, value []field) (edit, error)
	// set changes a field of an existing object, or adds it.
	set(text []byte, object []string, f field) ([]byte, error)
	// cut removes a value with its key.
	cut(text []byte, path []string) ([]byte, error)
}

var syntaxes = map[Format]syntax{JSON: jsonSyntax{}, TOML: tomlSyntax{}, YAML: yamlSyntax{}}

// A SyntaxError is a mistake in a configuration file, which is why the file is left alone.
type SyntaxError struct {
	Line   int // from 1
	Column int // from 1; 0 if the parser does not say
	Msg    string
}

func (e *SyntaxError) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Msg)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// A ShapeError says that a file is valid, but has something where a table of servers
// belongs, or writes it in a way that cannot be changed in place.
type ShapeError struct{ Msg string }

func (e *ShapeError) Error() string { return e.Msg }

func shapeError(format string, args ...any) error {
	return &ShapeError{Msg: fmt.Sprintf(format, args...)}
}

// An edit replaces text at one place.
type edit struct {
	at       int
	old, new []byte
}

func (e edit) apply(text []byte) []byte {
	return bytes.Join([][]byte{text[:e.at], e.new, text[e.at+len(e.old):]}, nil)
}

// lineEnding returns the line ending of a text.
func lineEnding(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the offset at which the line of an offset begins.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd returns the offset after the line ending of the line of an offset.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// indentation returns the blanks at the beginning of the line of an offset.
func indentation(text []byte, at int) string {
	start := lineStart(text, at)
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:end])
}

// normal returns a parsed value with the types that [syntax] promises.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			v[key] = normal(value)
		}
	case map[any]any: // YAML
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[fmt.Sprint(key)] = normal(value)
		}
		return m
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return "number " + v.String() // compared as it is written
	case float64:
		return fmt.Sprint("number ", v) // also NaN, which equals nothing
	case int:
		return int64(v)
	case uint64:
		return float64(v)
	}
	return v
}

// without returns a copy of a parsed file without the value at a path. Objects on the
// path that are empty then are omitted, as are values that are null.
func without(doc map[string]any, path []string) map[string]any {
	doc = maps.Clone(doc)
	if len(path) == 1 {
		delete(doc, path[0])
		return doc
	}
	switch inner := doc[path[0]].(type) {
	case nil:
		delete(doc, path[0])
	case map[string]any:
		if inner = without(inner, path[1:]); len(inner) == 0 {
			delete(doc, path[0])
		} else {
			doc[path[0]] = inner
		}
	}
	return doc
}
