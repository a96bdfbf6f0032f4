// Package jsonlines is a store in a file with one JSON object a line. It is the
// example of docs/write-a-store.md: all sessions are in memory, the file grows with
// each change, and one process at a time may use it.
package jsonlines

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"

	"github.com/sequent-dev/sequent"
)

// A Store is a [sequent.Store] in a file.
type Store struct {
	mu      sync.Mutex // guards all fields
	file    *os.File
	size    int64 // of the file, in bytes
	headers map[sequent.Key]*sequent.Header
	logs    map[sequent.Key][]sequent.Entry
}

// A line is a change of a session: the header after it and the entries that it added
// to the log, or the session's deletion.
type line struct {
	Header  sequent.Header
	Entries []sequent.Entry `json:",omitempty"`
	Deleted bool            `json:",omitzero"`
}

// Open opens the store in a file, which it creates if necessary. An incomplete last
// line, left by a crash, is removed: its change was never acknowledged.
func Open(path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &Store{file: file, headers: make(map[sequent.Key]*sequent.Header), logs: make(map[sequent.Key][]sequent.Entry)}
	for r := bufio.NewReader(file); ; {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return s, file.Truncate(s.size)
		}
		var l line
		if err = errors.Join(err, json.Unmarshal(text, &l)); err != nil {
			err = &sequent.Error{Code: sequent.CodeCorrupt, Msg: fmt.Sprintf("the line at byte %d is damaged", s.size), Err: err}
			return nil, errors.Join(err, file.Close())
		}
		s.size += int64(len(text))
		s.apply(l)
	}
}

// apply makes a change that is in the file.
func (s *Store) apply(l line) {
	k := l.Header.Key
	if l.Deleted {
		delete(s.headers, k)
		delete(s.logs, k)
		return
	}
	s.headers[k] = &l.Header
	s.logs[k] = append(s.logs[k], l.Entries...) // readers keep what they have
}

// record appends lines to the file and makes their changes. If that fails it removes them, but
// after a crash they may be there.
func (s *Store) record(lines ...line) error {
	var b bytes.Buffer
	for _, l := range lines {
		if err := json.NewEncoder(&b).Encode(l); err != nil {
			return err
		}
	}
	_, err := s.file.WriteAt(b.Bytes(), s.size)
	if err = errors.Join(err, s.file.Sync()); err != nil {
		return &sequent.Error{
			Code: sequent.CodeUnavailable, Uncertain: true,
			Msg: "the file of the store cannot be written; the change may or may not have been stored",
			Fix: sequent.FixUncertain, Err: errors.Join(err, s.file.Truncate(s.size)),
		}
	}
	s.size += int64(b.Len())
	for _, l := range lines {
		s.apply(l)
	}
	return nil
}

// begin locks the store for a call, which unlocks it even after an error.
func (s *Store) begin(ctx context.Context) error {
	s.mu.Lock()
	if err := ctx.Err(); err != nil {
		return &sequent.Error{Code: sequent.CodeCanceled, Msg: "the call was cancelled", Err: err}
	}
	return nil
}

// beyond returns a session's header, which is zero if there is no session, and the entries that
// a reader at a position lacks, or all if they do not continue what the reader has.
func (s *Store) beyond(k sequent.Key, have sequent.Position) (h sequent.Header, log []sequent.Entry) {
	if s.headers[k] != nil {
		h, log = *s.headers[k], s.logs[k]
	}
	if have.Entries <= len(log) && h.Continues(have, log[have.Entries:]) {
		return h, log[have.Entries:]
	}
	return h, log
}

// Load implements [sequent.Store].
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position) (sequent.Header, []sequent.Entry, error) {
	err := s.begin(ctx)
	defer s.mu.Unlock()
	h, log := s.beyond(k, have)
	if h.Version == 0 {
		err = cmp.Or(err, sequent.NotFound(k.ID))
	}
	return h, log, err
}

// Commit implements [sequent.Store].
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	err := s.begin(ctx)
	defer s.mu.Unlock()
	if err != nil {
		return err
	}
	var lines []line
	for _, w := range batch {
		now, tail := s.beyond(w.Header.Key, w.Base)
		if now.Position() == w.Base || w.Rebase(now, tail) {
			lines = append(lines, line{Header: w.Header, Entries: w.Entries})
		}
	}
	return s.record(lines...)
}

// Delete implements [sequent.Store].
func (s *Store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	err := s.begin(ctx)
	defer s.mu.Unlock()
	if h := s.headers[k]; h == nil || epoch != 0 && epoch != h.Epoch {
		err = cmp.Or(err, sequent.NotFound(k.ID))
	}
	if err != nil {
		return err
	}
	return s.record(line{Header: sequent.Header{Key: k}, Deleted: true})
}

// List implements [sequent.Store].
func (s *Store) List(ctx context.Context, q sequent.Query) (sequent.Page, error) {
	err := s.begin(ctx)
	defer s.mu.Unlock()
	page, bad := q.Page(maps.Values(s.headers))
	return page, cmp.Or(err, bad)
}

// Close implements [sequent.Store]. A second call does nothing.
func (s *Store) Close() error {
	s.mu.Lock() // calls under way finish first
	defer s.mu.Unlock()
	if err := s.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
