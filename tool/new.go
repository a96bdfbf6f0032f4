package tool

import (
	"context"
	"reflect"
	"sync"
)

// New makes a Tool from a handler of typed arguments. Arguments that do not fit
// the published schema go to reject, which words the refusal.
//
// In is a struct with a field for each property of s.InputSchema, tagged with
// its name: `json:"thoughtNumber"`. A tag `alias:"thought_number"` adds a second
// spelling that callers may use and that is not published. Fields are strings,
// ints, float64s and bools, pointers to these, and slices of strings:
//
//   - A plain field is a required property. Tagged `json:"name,omitzero"` it is
//     an optional one that is zero when absent.
//   - A pointer is an optional or a nullable property; it is nil when the
//     property is absent or null.
//   - A slice may be either; it is nil when the property is absent or null.
//
// New panics if In and the schema disagree in names, types or what is required,
// or if the schema has a keyword that would be published and not enforced.
//
// # What is accepted
//
// Models write arguments loosely, so the decoder takes more than the schema
// tells, as long as there is one thing that it can mean:
//
//   - For an integer: 7, 7.0 and 7e0, and the same as a string, spaces around it
//     allowed. Not true, 1.5, "seven", 0x7, or anything beyond ±(2^53−1), which
//     JSON numbers cannot hold exactly.
//   - For a number: any JSON number within ±(2^53−1), and the same as a string.
//   - For a boolean: true and false, and the same as a string in any case. Not
//     0, 1, "yes".
//   - For a string: strings only. A number is refused, for it might have lost
//     digits on its way here.
//   - For an array of strings: that, or a string that holds it as JSON.
//   - For an optional property: null is the same as leaving it out. For a
//     required one null counts as missing, unless its type includes null.
//   - For the arguments: an object, or a string that holds one as JSON; none and
//     null are the empty object.
//
// Bounds and enumerations of the schema hold for what a value means. If a name
// occurs twice, the last one counts, as in encoding/json; a name and its alias
// together are refused. Unknown properties are listed in [Call.Unknown], or
// refused where the schema says additionalProperties: false. Names match exactly.
//
// If several arguments are wrong, reject hears of the first in the schema's order.
func New[In any](
	s Spec,
	handle func(ctx context.Context, c Call, in In) (Reply, error),
	reject func(*ArgumentError) (Reply, error),
) Tool {
	p := compile[In](s)
	pool := sync.Pool{New: func() any { return newDestination[In](p) }}
	return Tool{Spec: s, Call: func(ctx context.Context, c Call) (Reply, error) {
		d := pool.Get().(*destination[In])
		unknown, err := p.decode(c.Args, c.Checked, d.fields)
		in := d.in
		d.in = *new(In)
		pool.Put(d)
		if err != nil {
			return reject(err)
		}
		c.Unknown = unknown
		return handle(ctx, c, in)
	}}
}

// A destination is a struct that arguments are decoded into. Destinations are
// reused because finding the pointers takes longer than decoding.
type destination[In any] struct {
	in     In
	fields []any // pointers to the fields of in, in the plan's order
}

func newDestination[In any](p *plan) *destination[In] {
	d := new(destination[In])
	d.fields = p.pointers(reflect.ValueOf(&d.in).Elem())
	return d
}
