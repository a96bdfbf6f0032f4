package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
)

// A jsonWriter writes JSON with two spaces of indentation, and lists one element at a time, so that
// a long session is not in memory twice. Errors are those of Flush.
type jsonWriter struct {
	*bufio.Writer
	encode func(any) []byte // compact JSON
}

// value writes a value whose line has an indentation.
func (w jsonWriter) value(indent string, v any) {
	var b bytes.Buffer
	if json.Indent(&b, w.encode(v), indent, "  ") == nil { // what was just encoded is JSON
		w.Write(b.Bytes())
	}
}

// list writes an array whose line has an indentation.
func (w jsonWriter) list(indent string, values iter.Seq[any]) {
	next := "["
	for v := range values {
		w.WriteString(next + "\n  " + indent)
		w.value(indent+"  ", v)
		next = ","
	}
	if next == "," {
		next = "\n" + indent
	}
	w.WriteString(next + "]")
}

// compact returns v as compact JSON without escapes for HTML.
func compact(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("archive: cannot encode: " + err.Error()) // it consists of strings, numbers and booleans
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode reads a document and nothing after it.
func decode(r io.Reader, v any) error {
	dec := json.NewDecoder(r)
	if err := dec.Decode(v); err != nil {
		return explained(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("data after the end at byte %d", dec.InputOffset())
	}
	return nil
}

// decodeEach reads the elements of a list, and calls do with each.
func decodeEach[T any](list []json.RawMessage, what string, do func(T) error) error {
	for i, text := range list {
		var v T
		err := explained(json.Unmarshal(text, &v))
		if err == nil {
			err = do(v)
		}
		if err != nil {
			return fmt.Errorf("%s %d: %w", what, i+1, err)
		}
	}
	return nil
}

// explained returns an error of encoding/json in our words.
func explained(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
	}
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s has the wrong type %s", cmp.Or(bad.Field, "the document"), bad.Value)
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("invalid JSON at byte %d: %w", bad.Offset, err)
	}
	return err
}

// A whole is an integer that may be in quotes or have a fraction of zero.
type whole int

// UnmarshalJSON implements [json.Unmarshaler].
func (n *whole) UnmarshalJSON(b []byte) error {
	text := unquoted(b)
	if text == "null" {
		return nil
	}
	digits, fraction, _ := strings.Cut(text, ".")
	i, err := strconv.Atoi(digits)
	if err != nil || strings.Trim(fraction, "0") != "" {
		return fmt.Errorf("%s is not an integer", oneLine(string(b), 40))
	}
	*n = whole(i)
	return nil
}

// A truth is a boolean that may be in quotes.
type truth bool

// UnmarshalJSON implements [json.Unmarshaler].
func (v *truth) UnmarshalJSON(b []byte) error {
	text := strings.ToLower(unquoted(b))
	if text != "true" && text != "false" && text != "null" {
		return fmt.Errorf("%s is not true or false", oneLine(string(b), 40))
	}
	*v = text == "true"
	return nil
}

func unquoted(b []byte) string {
	var s string
	if len(b) > 0 && b[0] == '"' && json.Unmarshal(b, &s) == nil {
		return strings.TrimSpace(s)
	}
	return string(b)
}
