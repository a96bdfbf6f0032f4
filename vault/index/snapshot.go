package index

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/sequent-dev/sequent/vault"
)

// A snapshot holds in memory what the index knows of all notes, except their
// texts. It is immutable; the next one is derived from it and from the changes
// since.
type snapshot struct {
	rev    int64
	synced bool
	notes  map[int64]*noteInfo
	uris   map[vault.URI]*noteInfo

	concepts *concepts
	mentions [][]int64 // by concept: the notes that link to it
	about    [][]int64 // by concept: the notes with its name
}

// A noteInfo is a note without its text.
type noteInfo struct {
	id             int64
	uri            vault.URI
	path, title    string
	size, modified int64
	settled        bool
	tags           []string
	concepts       []int32
	about          []int32
}

// A view is one state of the index: a snapshot, and a transaction for the texts.
type view struct {
	*snapshot
	file *file
	tx   *sql.Tx
}

func (v *view) close() {
	_ = v.tx.Rollback() // it only reads
	v.file.Release()
}

// view returns the current state. The caller closes it.
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
		if !errors.Is(err, errStale) {
			f.Release()
			return nil, err
		}
	}
}

// errStale means that the snapshot is newer than the transaction.
var errStale = errors.New("the transaction is older than the snapshot")

// snapshot returns the snapshot that belongs to a transaction.
func (f *file) snapshot(ctx context.Context, tx *sql.Tx) (*snapshot, error) {
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
		return nil, errStale
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

// catchUp reads the changes since s.rev.
func (s *snapshot) catchUp(ctx context.Context, tx *sql.Tx) error {
	removed, err := ids(tx.QueryContext(ctx, "SELECT id FROM removed WHERE rev > ?", s.rev))
	if err != nil {
		return err
	}
	for _, id := range removed {
		s.remove(id)
	}
	rows, err := tx.QueryContext(ctx,
		"SELECT id, path, size, modified, settled, title, tags, concepts, about FROM notes WHERE rev > ?", s.rev)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		n := new(noteInfo)
		var tags, concepts, about string
		if err := rows.Scan(&n.id, &n.path, &n.size, &n.modified, &n.settled, &n.title, &tags, &concepts, &about); err != nil {
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

// ids collects the rows of a query for ids.
func ids(rows *sql.Rows, err error) ([]int64, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

func (s *snapshot) add(n *noteInfo) {
	s.notes[n.id], s.uris[n.uri] = n, n
	for _, c := range n.concepts {
		s.mentions = grown(s.mentions, c)
		s.mentions[c] = with(s.mentions[c], n.id)
	}
	for _, c := range n.about {
		s.about = grown(s.about, c)
		s.about[c] = with(s.about[c], n.id)
	}
}

// grown returns lists with a place for concept c.
func grown(lists [][]int64, c int32) [][]int64 {
	if n := int(c) + 1 - len(lists); n > 0 {
		return append(lists, make([][]int64, n)...)
	}
	return lists
}

// mentioning returns the notes that link to a concept.
func (s *snapshot) mentioning(c int32) []int64 {
	if int(c) < len(s.mentions) {
		return s.mentions[c]
	}
	return nil
}

// named returns the notes with the name of a concept.
func (s *snapshot) named(c int32) []int64 {
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
	if s.uris[n.uri] == n { // a new note may have the URI
		delete(s.uris, n.uri)
	}
	for _, c := range n.concepts {
		s.mentions[c] = without(s.mentions[c], id)
	}
	for _, c := range n.about {
		s.about[c] = without(s.about[c], id)
	}
}

// with returns a sorted list with id added. Earlier snapshots may share the list:
// its elements are not changed, but mostly ids arrive in order and are appended.
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

// without returns a copy of a sorted list without id.
func without(list []int64, id int64) []int64 {
	i, found := slices.BinarySearch(list, id)
	if !found {
		return list
	}
	return slices.Concat(list[:i], list[i+1:])
}
