// Package jsonlines is a store in a file with one JSON object a line. It is the
// example of docs/write-a-store.md: all sessions are in memory, the file grows with
// each change, and one process at a time may use it.
package jsonlines

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/sequent-dev/sequent"
)

// A Store is a [sequent.Store] in a file.
type Store struct {
	mu       sync.RWMutex // guards all fields
	file     *os.File
	size     int64 // of the file, in bytes
	sessions map[sequent.Key]session
	begun    int64            // sessions, deleted ones included
	recorded int64            // entries, deleted ones included
	refused  map[string]int64 // by owner
	feed     sequent.Feed
	closed   bool
}

// A session is the state of a session. It is replaced by a change, never modified, so
// that readers can keep it.
type session struct {
	header  sequent.Header
	key     int64 // begun first has the smallest
	entries []sequent.Entry
	ids     []int64 // of entries; recorded first has the smallest
}

// beyond returns the entries that a reader at a position lacks, or all if they do not
// continue what the reader has.
func (s session) beyond(have sequent.Position) []sequent.Entry {
	n := len(s.entries)
	for n > 0 && s.entries[n-1].Beyond(have) {
		n--
	}
	if !s.header.Continues(have, s.entries[n:]) {
		n = 0
	}
	return slices.Clip(s.entries[n:])
}

// A line is a change of a session: the header after it and the entries that it added
// to the log, or the session's deletion. Or it adds to the refusals of the header's
// owner.
type line struct {
	Header  sequent.Header
	Entries []sequent.Entry `json:",omitempty"`
	Deleted bool            `json:",omitzero"`
	Refused int64           `json:",omitzero"`
}

// Open opens the store in a file, which it creates if necessary. An incomplete last
// line, left by a crash, is removed: its change was never acknowledged.
func Open(path string) (*Store, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unavailable(err)
	}
	s := &Store{file: file, sessions: make(map[sequent.Key]session), refused: make(map[string]int64)}
	if err := s.read(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// read reads the file.
func (s *Store) read() error {
	for r := bufio.NewReader(s.file); ; {
		text, err := r.ReadBytes('\n')
		if err == io.EOF {
			return s.truncate()
		}
		if err != nil {
			return unavailable(err)
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return &sequent.Error{Code: sequent.CodeCorrupt, Msg: fmt.Sprintf("the line at byte %d is damaged", s.size), Err: err}
		}
		s.size += int64(len(text))
		s.apply(s.sessions, l)
	}
}

// apply makes a change in sessions, which can lack those that it does not concern.
func (s *Store) apply(sessions map[sequent.Key]session, l line) {
	k := l.Header.Key
	if l.Refused > 0 {
		s.refused[k.Owner] += l.Refused
		return
	}
	if l.Deleted {
		delete(sessions, k)
		return
	}
	now, exists := sessions[k]
	if !exists {
		s.begun++
		now.key = s.begun
	}
	now.header = l.Header
	now.entries = append(now.entries, l.Entries...)
	for range l.Entries {
		s.recorded++
		now.ids = append(now.ids, s.recorded)
	}
	sessions[k] = now
}

// append appends lines to the file. If that fails it removes them, but after a crash
// they may be there.
func (s *Store) append(lines []line) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, l := range lines {
		if err := e.Encode(l); err != nil {
			return unavailable(err)
		}
	}
	_, err := s.file.WriteAt(b.Bytes(), s.size)
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		return errors.Join(uncertain(err), s.truncate())
	}
	s.size += int64(b.Len())
	return nil
}

// truncate removes what follows the last whole line.
func (s *Store) truncate() error {
	if err := s.file.Truncate(s.size); err != nil {
		return unavailable(err)
	}
	return nil
}

// Load implements [sequent.Store].
func (s *Store) Load(ctx context.Context, k sequent.Key, have sequent.Position, _ int) (sequent.Header, []sequent.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return sequent.Header{}, nil, err
	}
	found, ok := s.sessions[k]
	if !ok {
		return sequent.Header{}, nil, notFound(k)
	}
	return found.header, found.beyond(have), nil
}

// Commit implements [sequent.Store].
func (s *Store) Commit(ctx context.Context, batch []*sequent.Write) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	staged := make(map[sequent.Key]session) // the sessions of the batch, as they will be
	var lines []line
	for _, w := range batch {
		k := w.Header.Key
		now, exists := staged[k]
		if !exists {
			if now, exists = s.sessions[k]; exists {
				staged[k] = now
			}
		}
		if now.header.Position() != w.Base && !w.Rebase(now.header, exists, now.beyond(w.Base)) {
			continue
		}
		l := line{Header: w.Header, Entries: w.Entries}
		s.apply(staged, l)
		lines = append(lines, l)
	}
	if err := s.append(lines); err != nil {
		return err
	}
	maps.Copy(s.sessions, staged)
	for _, l := range lines {
		s.feed.Written(l.Header.Key)
	}
	return nil
}

// Delete implements [sequent.Store].
func (s *Store) Delete(ctx context.Context, k sequent.Key, epoch int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	found, ok := s.sessions[k]
	if !ok || epoch != 0 && epoch != found.header.Epoch {
		return notFound(k)
	}
	return s.delete([]sequent.Key{k})
}

// Sweep implements [sequent.Store].
func (s *Store) Sweep(ctx context.Context, q sequent.SweepQuery, limit int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	var keys []sequent.Key
	for k, found := range s.sessions {
		h := found.header
		if len(keys) < limit && (q.AllOwners || h.Owner == q.Owner) &&
			(q.Expired.IsZero() || h.Expired(q.Expired)) &&
			(q.Before.IsZero() || h.Updated.Before(q.Before)) {
			keys = append(keys, k)
		}
	}
	return len(keys), s.delete(keys)
}

// delete deletes sessions. The caller holds mu.
func (s *Store) delete(keys []sequent.Key) error {
	var lines []line
	for _, k := range keys {
		lines = append(lines, line{Header: sequent.Header{Key: k}, Deleted: true})
	}
	if err := s.append(lines); err != nil {
		return err
	}
	for _, l := range lines {
		s.apply(s.sessions, l)
		s.feed.Touched(l.Header.Key.Topic())
	}
	return nil
}

// Watch implements [sequent.Store].
func (s *Store) Watch(ctx context.Context) (*sequent.Watch, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	return s.feed.Watch(), nil
}

// Close implements [sequent.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.feed.Close(unavailable(errors.New("the store is closed")))
	return s.file.Close()
}
