package postgres

import (
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// A thoughtRow scans rows of the thoughtColumns, one after the other.
type thoughtRow struct {
	session int64

	seq, number, total, after, at, place int64
	text                                 string
	more                                 bool
	salt, hash                           pgtype.DriverBytes
	optional                             []*string // nil if the thought has none of them

	targets []any
}

// newThoughtRow returns a thoughtRow for rows that have columns for more after the
// thoughtColumns.
func newThoughtRow(more ...any) *thoughtRow {
	r := new(thoughtRow)
	r.targets = append([]any{
		&r.session, &r.seq, &r.number, &r.total, &r.text, &r.more, &r.after, &r.at, &r.place, &r.salt, &r.hash, &r.optional,
	}, more...)
	return r
}

// scan returns the thought of a row. It has set session.
func (r *thoughtRow) scan(rows pgx.Rows) (e sequent.Entry, err error) {
	if err := rows.Scan(r.targets...); err != nil {
		return sequent.Entry{}, err
	}
	t := &e.Thought
	t.Seq, t.Number, t.Total, t.After = int(r.seq), int(r.number), int(r.total), int(r.after)
	t.Text, t.More, t.At = r.text, r.more, record.Time(r.at)
	e.Kind, e.At, e.Place = sequent.KindThought, t.At, int(r.place)
	if err := unpackAll(&t.Text); err != nil {
		return sequent.Entry{}, err
	}
	masked := ""
	if r.optional != nil {
		if masked, err = r.setOptional(t); err != nil {
			return sequent.Entry{}, err
		}
	}
	if err := record.ParseProof(&e, r.salt, r.hash, masked); err != nil {
		return sequent.Entry{}, corrupt("the proof of a thought in the store is damaged", err)
	}
	return e, nil
}

// setOptional sets the fields of t that most thoughts lack.
func (r *thoughtRow) setOptional(t *sequent.Thought) (masked string, err error) {
	const texts = 6
	var labels string
	for i, to := range [texts]*string{&t.Note, &t.Branch, &t.Request.Key, &t.Request.Digest, &labels, &masked} {
		*to = *r.optional[i]
	}
	if err := unpackAll(&t.Note, &t.Branch, &t.Request.Key, &t.Request.Digest, &labels); err != nil {
		return "", err
	}
	if t.Labels, err = unpackLabels(labels); err != nil {
		return "", err
	}
	var numbers [3]int
	for i, s := range r.optional[texts : texts+len(numbers)] {
		if s != nil {
			n, parseErr := strconv.Atoi(*s)
			numbers[i], err = n, errors.Join(err, parseErr)
		}
	}
	if err != nil {
		return "", corrupt("a number in the store is damaged", err)
	}
	if r.optional[texts] != nil {
		t.From = sequent.To(numbers[0])
	}
	if r.optional[texts+1] != nil {
		t.Revises = sequent.To(numbers[1])
	}
	t.Supersedes = numbers[2]
	t.Revision, t.Extend = *r.optional[texts+3] == "true", *r.optional[texts+4] == "true"
	return masked, nil
}
