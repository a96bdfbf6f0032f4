package sqlite

import (
	"database/sql"
	"fmt"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A thoughtRow scans rows of selectThoughts, one after the other. It takes integers as
// the driver returns them: database/sql would convert each by reflection.
type thoughtRow struct {
	integers   [8]any
	text       string
	salt, hash sql.RawBytes

	targets [11]any
}

func newThoughtRow() *thoughtRow {
	r := new(thoughtRow)
	for i := range r.integers {
		r.targets[i] = &r.integers[i]
	}
	r.targets[8], r.targets[9], r.targets[10] = &r.text, &r.salt, &r.hash
	return r
}

// scan sets e to the thought of a row, without what selectOptional returns, and reports
// whether there is none of that.
func (r *thoughtRow) scan(rows *sql.Rows, e *sequent.Entry) (plain bool, err error) {
	if err := rows.Scan(r.targets[:]...); err != nil {
		return false, err
	}
	var n [len(r.integers)]int64
	for i, v := range r.integers {
		var ok bool
		if n[i], ok = v.(int64); !ok {
			return false, damaged("a thought", fmt.Errorf("column %d is a %T, not an integer", i, v))
		}
	}
	t := &e.Thought
	t.Seq, t.Number, t.Total, t.After, e.Place = int(n[0]), int(n[1]), int(n[2]), int(n[3]), int(n[5])
	t.At, t.More, t.Text = record.Time(n[4]), n[6] != 0, r.text
	e.At = t.At
	if err := record.ParseProof(e, r.salt, r.hash, ""); err != nil {
		return false, damaged("the proof of a thought", err)
	}
	return n[7] == 0, nil
}
