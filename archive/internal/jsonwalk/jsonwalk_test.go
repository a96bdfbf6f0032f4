package jsonwalk_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent/archive/internal/jsonwalk"
)

// walk reads the number in a and the strings in list, and passes over the rest.
func walk(doc string) (string, error) {
	var out []string
	w := jsonwalk.New(strings.NewReader(doc))
	err := w.Object(func(name string) error {
		switch name {
		case "a":
			var n int
			err := w.Value(&n)
			out = append(out, fmt.Sprint(n))
			return err
		case "list":
			return w.Array(func(i int) error {
				var s string
				err := w.Value(&s)
				out = append(out, fmt.Sprintf("%d=%s", i, s))
				return err
			})
		}
		return w.Skip()
	})
	if err == nil {
		err = w.End()
	}
	return strings.Join(out, " "), err
}

func TestWalk(t *testing.T) {
	for doc, want := range map[string]string{
		`{}`:                              "",
		`{"a": 1, "list": ["x", "y"]}`:    "1 0=x 1=y",
		`{"list": null, "a": 2} `:         "2",
		`{"z": [{"a": 9}, [[]]], "a": 3}`: "3",
		`{"z": "}", "y": null, "a": 4}`:   "4",
	} {
		if got, err := walk(doc); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", doc, got, err, want)
		}
	}
	for doc, want := range map[string]string{
		``:                                   "truncated after 0 bytes",
		`{"a": 1`:                            "truncated after 7 bytes",
		`{"a": `:                             "truncated",
		`{"z": [1, `:                         "truncated",
		`[]`:                                 "expected an object at byte 1",
		`{"list": {}}`:                       "expected an array at byte 10",
		`{"a": "x"}`:                         "a has the wrong type string near byte 9",
		`{"list": [1]}`:                      "list has the wrong type number",
		`{"a": 1} {}`:                        "data after the end at byte 10",
		`{"a": 1,}`:                          "invalid JSON at byte 8",
		`{a: 1}`:                             "invalid JSON at byte 1",
		`{"z": ` + strings.Repeat("[", 2000): "nested more than 1000 deep",
	} {
		if _, err := walk(doc); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v, want %q in it", doc, err, want)
		}
	}
	if _, err := walk(`{"a": 1`); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want one that matches io.ErrUnexpectedEOF", err)
	}
}
