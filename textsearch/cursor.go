package textsearch

import (
	"fmt"
	"hash/fnv"
)

// A Cursor is the beginning of a page of results: the position Offset in the [Ranking] of
// the documents with ids up to Newest. Documents that are recorded meanwhile move no
// others to another page.
type Cursor struct {
	Newest int64
	Offset int
}

// String returns c in an opaque form that needs no quoting in a URL. It is valid for q
// and whatever else narrows the search, such as an owner.
func (c Cursor) String(q Query, narrowing ...string) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s%q", q, narrowing) // recognises cursors of other searches; not for security
	// A model repeats it: digits are the fewest tokens.
	return fmt.Sprintf("%d.%d.%d", c.Newest, c.Offset, h.Sum32())
}

// ParseCursor parses the result of [Cursor.String]. The error is an *[Error]: s is not a
// cursor, or is one of another search.
func ParseCursor(s string, q Query, narrowing ...string) (Cursor, error) {
	var c Cursor
	_, err := fmt.Sscanf(s, "%d.%d.", &c.Newest, &c.Offset)
	if err != nil || c.Offset < 0 || c.Offset > MaxCandidates || s != c.String(q, narrowing...) {
		return Cursor{}, &Error{"the cursor does not belong to this search", "pass the cursor of the previous page with the same query, or none"}
	}
	return c, nil
}
