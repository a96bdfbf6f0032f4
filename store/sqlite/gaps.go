package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"

	"github.com/sequent-dev/sequent/internal/indexfile"
)

// SQLite's secure_delete overwrites a row where it was. When a page of a b-tree is
// full, SQLite moves rows to other pages and leaves their old bytes in the gap
// between the page's cell pointers and its cells. If such a row is deleted later,
// only the row is overwritten. So Erase also overwrites the gaps. The formats of
// pages are described at https://www.sqlite.org/fileformat2.html, sections 1.6 and
// 1.8.

// maxGapPages is the number of pages that a transaction of clearGaps changes.
const maxGapPages = 256

// clearGaps overwrites the gaps of all pages in a file with a pointer map, in
// several transactions. It reads the file through readers, and calls write to
// change it.
func clearGaps(ctx context.Context, readers *sql.DB, write func(do func(conn) error) error) error {
	dirty, err := findGaps(ctx, readers)
	for len(dirty) > 0 && err == nil {
		n := min(len(dirty), maxGapPages)
		err = write(func(tx conn) error { return clearPages(ctx, tx, dirty[:n]) })
		dirty = dirty[n:]
	}
	return err
}

// findGaps returns the numbers of the pages whose gaps are not clear.
func findGaps(ctx context.Context, db *sql.DB) (pages []int64, err error) {
	rows, err := db.QueryContext(ctx, "SELECT pgno, data FROM sqlite_dbpage")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var types []byte // the last page of the pointer map; it precedes its pages
	for rows.Next() {
		var pgno int64
		var data sql.RawBytes
		if err := rows.Scan(&pgno, &data); err != nil {
			return nil, err
		}
		if pgno == pointerMap(pgno, len(data)) {
			types = append(types[:0], data...)
		} else if isBTree(types, pgno, len(data)) && !isClear(gap(data)) {
			pages = append(pages, pgno)
		}
	}
	return pages, rows.Err()
}

// clearPages overwrites the gaps of pages that still belong to a b-tree, in the
// transaction tx.
func clearPages(ctx context.Context, tx conn, pages []int64) error {
	read := func(pgno int64) (data []byte, err error) {
		err = tx.QueryRowContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?", pgno).Scan(&data)
		return data, err
	}
	for _, pgno := range pages {
		data, err := read(pgno)
		if errors.Is(err, sql.ErrNoRows) { // the file is smaller now
			continue
		}
		if err != nil {
			return err
		}
		types, err := read(pointerMap(pgno, len(data)))
		if err != nil {
			return err
		}
		if g := gap(data); isBTree(types, pgno, len(data)) && !isClear(g) {
			clear(g)
			if _, err := tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", data, pgno); err != nil {
				return err
			}
		}
	}
	return nil
}

// pointerMap returns the number of the pointer-map page for a page, which is pgno
// itself if that is one. Page 1 has none.
func pointerMap(pgno int64, pageSize int) int64 {
	if pgno < 2 {
		return 0
	}
	group := int64(pageSize/5 + 1)
	at := (pgno-2)/group*group + 2
	if at == 1<<30/int64(pageSize)+1 { // the page with the lock bytes is skipped
		at++
	}
	return at
}

// isBTree reports whether a pointer-map page says that a page is part of a b-tree.
func isBTree(types []byte, pgno int64, pageSize int) bool {
	const root, node = 1, 5
	i := 5 * (pgno - pointerMap(pgno, pageSize) - 1)
	return pgno > 1 && i >= 0 && i < int64(len(types)) && (types[i] == root || types[i] == node)
}

// gap returns the unallocated bytes of a page of a b-tree, or nil if the page is
// not in the expected form.
func gap(page []byte) []byte {
	header := 8
	switch page[0] {
	case 2, 5: // interior
		header = 12
	case 10, 13: // leaf
	default:
		return nil
	}
	from := header + 2*int(binary.BigEndian.Uint16(page[3:]))
	to := int(binary.BigEndian.Uint16(page[5:]))
	if from > to || to > len(page) {
		return nil
	}
	return page[from:to]
}

// isClear reports whether all bytes are 0.
func isClear(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// inTx returns the write argument of clearGaps for the index.
func (f *indexFile) inTx(ctx context.Context) func(do func(conn) error) error {
	return func(do func(conn) error) error {
		return indexfile.InTx(ctx, f.Writer, func(tx *sql.Tx) error { return do(tx) })
	}
}
