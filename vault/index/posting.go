package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/sequent-dev/sequent/internal/words"
)

// A field is a part of a note that words are looked for in.
type field int

const (
	inBody field = iota // the text, and what else front matter says
	inHead              // title, file name, aliases and tags
	fields
)

// chunkNotes is how many notes share one row of postings: large enough that
// the postings of a common word are few rows, small enough that a change of
// one note rewrites little.
const (
	chunkBits  = 9
	chunkNotes = 1 << chunkBits
)

// rowKey returns the key of the row with the postings of a word in a field for
// the notes of a chunk.
func rowKey(word int64, f field, chunk int64) int64 {
	return (word*int64(fields)+int64(f))<<24 | chunk
}

// occurrences are the places of each word of a note in a field, encoded.
type occurrences [fields]map[string][]byte

// occurrencesOf cuts the parts of a field in words. A gap keeps phrases from
// reaching from one part to the next.
func occurrencesOf(head, body []string) (out occurrences, length int) {
	for f, parts := range [fields][]string{inHead: head, inBody: body} {
		places := make(map[string][]int)
		pos := 0
		for _, part := range parts {
			for _, token := range words.Tokens(part) {
				places[token] = append(places[token], pos)
				pos++
			}
			if field(f) == inBody {
				length = pos
			}
			pos++
		}
		out[f] = make(map[string][]byte, len(places))
		for token, at := range places {
			out[f][token] = encodePlaces(at)
		}
	}
	return out, length
}

func encodePlaces(at []int) []byte {
	out := binary.AppendUvarint(make([]byte, 0, 2+len(at)), uint64(len(at)))
	last := 0
	for _, p := range at {
		out = binary.AppendUvarint(out, uint64(p-last))
		last = p
	}
	return out
}

var errPostings = errors.New("a row of postings is damaged")

// decodePlaces returns the places that encodePlaces wrote.
func decodePlaces(data []byte) ([]int, error) {
	n, data, err := uvarint(data)
	if err != nil || n > uint64(len(data)) {
		return nil, errPostings
	}
	at, last := make([]int, n), 0
	for i := range at {
		var d uint64
		if d, data, err = uvarint(data); err != nil {
			return nil, err
		}
		last += int(d)
		at[i] = last
	}
	return at, nil
}

// A posting says where a word is in one note.
type posting struct {
	note  int64
	count int
	data  []byte // as encodePlaces wrote it
}

// appendRow appends postings, which are sorted and of one chunk, as a row.
func appendRow(dst []byte, all []posting) []byte {
	for _, p := range all {
		dst = binary.AppendUvarint(dst, uint64(p.note%chunkNotes))
		dst = binary.AppendUvarint(dst, uint64(len(p.data)))
		dst = append(dst, p.data...)
	}
	return dst
}

// appendPostings appends the postings of a row to dst. They share its memory.
func appendPostings(dst []posting, chunk int64, row []byte) ([]posting, error) {
	for len(row) > 0 {
		low, rest, err := uvarint(row)
		if err != nil {
			return nil, err
		}
		size, rest, err := uvarint(rest)
		if err != nil || size > uint64(len(rest)) {
			return nil, errPostings
		}
		data := rest[:size]
		row = rest[size:]
		count, _, err := uvarint(data)
		if err != nil {
			return nil, err
		}
		dst = append(dst, posting{chunk<<chunkBits | int64(low%chunkNotes), int(count), data})
	}
	return dst, nil
}

func uvarint(data []byte) (uint64, []byte, error) {
	v, n := binary.Uvarint(data)
	if n <= 0 {
		return 0, nil, errPostings
	}
	return v, data[n:], nil
}

// merge returns old with the changes, both sorted by note. A change without
// data removes the note.
func merge(old, changes []posting) []posting {
	out := make([]posting, 0, len(old)+len(changes))
	for len(old) > 0 || len(changes) > 0 {
		switch {
		case len(changes) == 0 || len(old) > 0 && old[0].note < changes[0].note:
			out = append(out, old[0])
			old = old[1:]
			continue
		case len(old) > 0 && old[0].note == changes[0].note:
			old = old[1:]
		}
		if changes[0].data != nil {
			out = append(out, changes[0])
		}
		changes = changes[1:]
	}
	return out
}

func sortPostings(all []posting) {
	slices.SortFunc(all, func(a, b posting) int { return cmp.Compare(a.note, b.note) })
}
