package index

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/sequent-dev/sequent/vault"
)

// A snapshot is what of the index is kept in memory: everything but the texts
// and the postings. It does not change; the next one is made of what has
// changed since.
type snapshot struct {
	rev    int64
	synced bool
	notes  map[int64]*noteInfo
	uris   map[vault.URI]*noteInfo
	words  int64 // in all bodies

	concepts *concepts
	mentions [][]int64 // by concept: the notes that mention it
	about    [][]int64 // by concept: the notes whose own name it is
}

// A noteInfo is a note without its text.
type noteInfo struct {
	id             int64
	uri            vault.URI
	path, title    string
	size, modified int64
	settled        bool
	length         int
	tags           []string
	concepts       []int32
	about          []int32
}

// A view is one state of the index: a snapshot and the transaction to read
// what it lacks.
type view struct {
	*snapshot
	file *file
	tx   *sql.Tx
}

func (v *view) close() {
	_ = v.tx.Rollback() // it only reads
	v.file.Release()
}

// view returns the present state, which the caller closes.
func (x *Index) view(ctx context.Context) (*view, error) {
	f, err := x.acquire(ctx, forReading)
	if err != nil {
		return nil, err
	}
	for {
		tx, err := f.Readers.BeginTx(ctx, nil)
		if err == nil {
			var snap *snapshot
			if snap, err = f.snapshot(ctx, tx); err == nil {
				return &view{snap, f, tx}, nil
			}
			_ = tx.Rollback()
		}
		if !errors.Is(err, errOvertaken) {
			f.Release()
			return nil, err
		}
	}
}

// errOvertaken says that the snapshot is of a later state than the transaction.
var errOvertaken = errors.New("the transaction is of an earlier state")

func (f *file) snapshot(ctx context.Context, tx queryer) (*snapshot, error) {
	var rev, floor int64
	var synced bool
	if err := tx.QueryRowContext(ctx, "SELECT rev, floor, synced FROM state").Scan(&rev, &floor, &synced); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.snap != nil && f.snap.rev == rev && f.snap.synced == synced:
		return f.snap, nil
	case f.snap != nil && f.snap.rev > rev:
		return nil, errOvertaken
	}
	next := newSnapshot()
	if f.snap != nil && f.snap.rev >= floor {
		next = f.snap.clone()
	}
	if err := next.catchUp(ctx, tx); err != nil {
		return nil, err
	}
	next.rev, next.synced = rev, synced
	f.snap = next
	return next, nil
}

func newSnapshot() *snapshot {
	return &snapshot{
		notes: make(map[int64]*noteInfo), uris: make(map[vault.URI]*noteInfo),
		concepts: &concepts{numbers: make(map[string]int32), spelled: make(map[string]int32)},
	}
}

func (s *snapshot) clone() *snapshot {
	c := *s
	c.notes, c.uris = maps.Clone(s.notes), maps.Clone(s.uris)
	c.mentions, c.about = slices.Clone(s.mentions), slices.Clone(s.about)
	return &c
}

// catchUp reads what has changed since s.rev.
func (s *snapshot) catchUp(ctx context.Context, tx queryer) error {
	rows, err := tx.QueryContext(ctx, "SELECT id FROM removed WHERE rev > ?", s.rev)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		s.remove(id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	rows, err = tx.QueryContext(ctx,
		"SELECT id, path, size, modified, settled, title, tags, concepts, about, length FROM notes WHERE rev > ?", s.rev)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		n := new(noteInfo)
		var tags, concepts, about string
		if err := rows.Scan(&n.id, &n.path, &n.size, &n.modified, &n.settled, &n.title, &tags, &concepts, &about, &n.length); err != nil {
			return err
		}
		if n.uri, err = vault.PathURI(n.path); err != nil {
			return errDamaged
		}
		n.tags = split(tags)
		n.concepts = s.concepts.intern(split(concepts))
		n.about = s.concepts.intern(split(about))
		s.remove(n.id)
		s.add(n)
	}
	return rows.Err()
}

func (s *snapshot) add(n *noteInfo) {
	s.notes[n.id], s.uris[n.uri] = n, n
	s.words += int64(n.length)
	for _, c := range n.concepts {
		s.mentions = grown(s.mentions, c)
		s.mentions[c] = with(s.mentions[c], n.id)
	}
	for _, c := range n.about {
		s.about = grown(s.about, c)
		s.about[c] = with(s.about[c], n.id)
	}
}

// grown returns lists with room for concept c.
func grown(lists [][]int64, c int32) [][]int64 {
	if n := int(c) + 1 - len(lists); n > 0 {
		return append(lists, make([][]int64, n)...)
	}
	return lists
}

// mentioning returns the notes that mention a concept.
func (s *snapshot) mentioning(c int32) []int64 {
	if int(c) < len(s.mentions) {
		return s.mentions[c]
	}
	return nil
}

// namesakes returns the notes whose own name a concept is.
func (s *snapshot) namesakes(c int32) []int64 {
	if int(c) < len(s.about) {
		return s.about[c]
	}
	return nil
}

func (s *snapshot) remove(id int64) {
	n := s.notes[id]
	if n == nil {
		return
	}
	delete(s.notes, id)
	if s.uris[n.uri] == n { // a new note may have taken it
		delete(s.uris, n.uri)
	}
	s.words -= int64(n.length)
	for _, c := range n.concepts {
		s.mentions[c] = without(s.mentions[c], id)
	}
	for _, c := range n.about {
		s.about[c] = without(s.about[c], id)
	}
}

// with returns the sorted list with id in it. Ids mostly come in order, and
// what an earlier snapshot sees of the list stays as it is.
func with(list []int64, id int64) []int64 {
	if n := len(list); n == 0 || list[n-1] < id {
		return append(list, id)
	}
	i, found := slices.BinarySearch(list, id)
	if found {
		return list
	}
	return slices.Insert(slices.Clone(list), i, id)
}

// without returns a new list that lacks id.
func without(list []int64, id int64) []int64 {
	i, found := slices.BinarySearch(list, id)
	if !found {
		return list
	}
	return slices.Concat(list[:i], list[i+1:])
}
