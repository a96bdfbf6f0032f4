package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// encoded returns v as JSON with two spaces of indentation, without escapes for HTML.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic("archive: cannot encode: " + err.Error()) // it consists of strings, numbers and booleans
	}
	return b.Bytes()
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

// explained returns an error of encoding/json in our words.
func explained(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
	}
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s has the wrong type %s at byte %d", cmp.Or(bad.Field[strings.LastIndexByte(bad.Field, '.')+1:], "the document"), bad.Value, bad.Offset)
	}
	return err
}
