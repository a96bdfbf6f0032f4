// Package jsonwalk reads large JSON documents a member at a time, so that what
// is not wanted is never held in memory.
package jsonwalk

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// deepest is how far values may be nested that are passed over.
const deepest = 1000

// A Walker goes through one document.
type Walker struct {
	dec  *json.Decoder
	name string // of the member that is read
}

// New returns a walker through what r has.
func New(r io.Reader) *Walker { return &Walker{dec: json.NewDecoder(r)} }

// Object calls member for each member of the object that comes next, with its
// name. Member must read the value, with one of the walker's methods.
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

// Array calls element before each element of the array that comes next.
// Element must read it. A null is an empty array.
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

// Skip passes over the next value.
func (w *Walker) Skip() error {
	for depth := 0; ; {
		token, err := w.dec.Token()
		if err != nil {
			return w.wrong(err)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > deepest {
				return fmt.Errorf("values are nested more than %d deep at byte %d", deepest, w.dec.InputOffset())
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// End checks that there is nothing after the document.
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

// wrong says where and what a decoder did not like.
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
