// Package jsonwalk reads large JSON documents member by member with encoding/json, so
// that skipped parts are never in memory.
package jsonwalk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth is the maximum nesting depth of skipped values.
const maxDepth = 1000

// A Walker reads one document.
type Walker struct {
	dec  *json.Decoder
	name string // of the current member
}

// New returns a Walker of the document in r.
func New(r io.Reader) *Walker { return &Walker{dec: json.NewDecoder(r)} }

// Object reads an object. It calls member with the name of each member; member must
// read the value with a method of the Walker.
func (w *Walker) Object(member func(name string) error) error {
	if err := w.open('{'); err != nil {
		return err
	}
	for w.dec.More() {
		token, err := w.dec.Token()
		if err != nil {
			return w.wrong(err)
		}
		name, ok := token.(string)
		if !ok {
			return fmt.Errorf("missing member name at byte %d", w.dec.InputOffset())
		}
		w.name = name
		if err := member(name); err != nil {
			return err
		}
	}
	return w.close()
}

// Array reads an array. It calls element before each element; element must read it. A
// null counts as an empty array.
func (w *Walker) Array(element func(i int) error) error {
	token, err := w.dec.Token()
	switch {
	case err != nil:
		return w.wrong(err)
	case token == nil:
		return nil
	case token != json.Delim('['):
		return fmt.Errorf("expected an array at byte %d", w.dec.InputOffset())
	}
	for i := 0; w.dec.More(); i++ {
		if err := element(i); err != nil {
			return err
		}
	}
	return w.close()
}

// Value reads the next value into v.
func (w *Walker) Value(v any) error { return w.wrong(w.dec.Decode(v)) }

// Skip skips the next value.
func (w *Walker) Skip() error {
	for depth := 0; ; {
		token, err := w.dec.Token()
		if err != nil {
			return w.wrong(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				return fmt.Errorf("values are nested more than %d deep at byte %d", maxDepth, w.dec.InputOffset())
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// End returns an error if there is data after the document.
func (w *Walker) End() error {
	_, err := w.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("data after the end at byte %d", w.dec.InputOffset())
}

func (w *Walker) open(d json.Delim) error {
	token, err := w.dec.Token()
	if err != nil {
		return w.wrong(err)
	}
	if token != d {
		return fmt.Errorf("expected an object at byte %d", w.dec.InputOffset())
	}
	return nil
}

func (w *Walker) close() error {
	_, err := w.dec.Token()
	return w.wrong(err)
}

// wrong adds the position to an error of the decoder.
func (w *Walker) wrong(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("truncated after %d bytes: %w", w.dec.InputOffset(), io.ErrUnexpectedEOF)
	}
	if bad, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s has the wrong type %s near byte %d", cmp.Or(bad.Field, w.name, "a value"), bad.Value, w.dec.InputOffset())
	}
	if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("invalid JSON at byte %d: %w", bad.Offset, err)
	}
	return err
}
