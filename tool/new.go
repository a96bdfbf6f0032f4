package tool

import (
	"context"
	"reflect"
)

// New returns a Tool that decodes arguments into an In and calls handle. For
// arguments that do not fit the published schema it calls reject instead, which
// returns the refusal.
//
// In is a struct with a field for each property of s.InputSchema, tagged with
// its name: `json:"thoughtNumber"`. A tag `alias:"thought_number"` adds a second
// name, which is accepted but not published. The fields of an embedded struct count
// as those of In. Fields are strings, ints, float64s and bools, or types made of these,
// pointers to these four, and slices of strings:
//
//   - A plain field is a required property. With the tag `json:"name,omitzero"` it
//     is an optional property, and zero if that is absent.
//   - A pointer is any of these, and nil if the property is absent or null.
//   - So is a slice.
//
// New panics if In and the schema differ in names, types or required properties,
// or if the schema has a keyword that the decoder does not enforce.
//
// # Accepted arguments
//
// Models write arguments loosely, so the decoder accepts more than the schema, as
// long as the meaning is unambiguous:
//
//   - For an integer: 7, 7.0 and 7e0, and these as a string, with or without
//     spaces around them. Not true, 1.5, "seven", 0x7, or numbers beyond
//     ±(2^53−1), which not every JSON parser represents exactly.
//   - For a number: any JSON number within ±(2^53−1), also as a string.
//   - For a boolean: true and false, also as a string in any case. Not 0, 1 or
//     "yes".
//   - For a string: strings only. A number could have lost digits.
//   - For an array of strings or of objects: also a string that contains the array as
//     JSON. In its objects, all of this holds again.
//   - For an optional property: null means absent. For a required property null
//     means missing, unless its type includes null.
//   - For the arguments: see [Object].
//
// Limits and enumerations apply to the decoded value. If a name occurs twice, the
// last value counts, as in encoding/json; a name together with its alias is
// refused. Names are case-sensitive. Unknown properties are listed in
// [Call.Unknown], or refused if the schema has additionalProperties: false.
//
// If several arguments are wrong, reject is called with the first one in the order
// of the schema.
func New[In any](
	s Spec,
	handle func(ctx context.Context, c Call, in In) (Reply, error),
	reject func(*ArgumentError) (Reply, error),
) Tool {
	return NewTolerant(s, func(ctx context.Context, c Call, in In, faults []*ArgumentError) (Reply, error) {
		if len(faults) > 0 {
			return reject(faults[0])
		}
		return handle(ctx, c, in)
	})
}

// NewTolerant is New for a tool that answers calls whose arguments do not fit the schema
// with what can be decoded of them. Faults are in the order of the schema; the fields of
// these arguments are zero. A required argument may have a pointer, which tells whether it
// was given.
func NewTolerant[In any](s Spec, handle func(ctx context.Context, c Call, in In, faults []*ArgumentError) (Reply, error)) Tool {
	v, _ := compile(s.InputSchema, reflect.TypeFor[In](), path(s.Name))
	return Tool{Spec: s, Call: func(ctx context.Context, c Call) (Reply, error) {
		var in In
		args, err := object(c.Args, c.Checked)
		if err != nil {
			return handle(ctx, c, in, []*ArgumentError{err})
		}
		var faults []*ArgumentError
		c.Unknown, faults = v.object.decode(args, reflect.ValueOf(&in).Elem())
		return handle(ctx, c, in, faults)
	}}
}
