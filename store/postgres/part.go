package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// A part is a schema with all tables. A store has one, or several, each with the sessions of
// the owners that partOf gives it.
type part struct {
	name   string   // of the schema
	number int      // of the part, from 0
	of     int      // number of parts
	schema string   // name in statements
	texts  sync.Map // of statements, by those with the word schema; see sql
}

const maxParts = 64 // the set of parts to index is a word of 64 bits

// partOf returns the number of the part, of n, that has the sessions of an owner: the first
// four bytes of the owner's SHA-256, a big-endian number, modulo n. It never changes, because
// sessions stay where they are. PostgreSQL computes it as
//
//	('x' || left(encode(sha256(convert_to(owner, 'UTF8')), 'hex'), 8))::bit(32)::bigint % n
func partOf(owner string, n int) int {
	if n == 1 {
		return 0
	}
	sum := sha256.Sum256([]byte(owner))
	return int(binary.BigEndian.Uint32(sum[:]) % uint32(n))
}

func newPart(name string, number, of int) *part {
	return &part{name: name, number: number, of: of, schema: pgx.Identifier{name}.Sanitize()}
}

// partsOf returns the n parts of a store in a schema: the schema itself if there is one part,
// otherwise schemas beside it.
func partsOf(schema string, n int) []*part {
	if n == 1 {
		return []*part{newPart(schema, 0, 1)}
	}
	parts := make([]*part, n)
	for i := range parts {
		parts[i] = newPart(fmt.Sprintf("%s_p%02d", schema, i), i, n)
	}
	return parts
}

// part returns the part that has the sessions of an owner.
func (s *Store) part(owner string) *part { return s.parts[partOf(owner, len(s.parts))] }

// selected returns the part of an owner, or all parts.
func (s *Store) selected(owner string, all bool) []*part {
	if all {
		return s.parts
	}
	return []*part{s.part(owner)}
}

// sql returns a statement for the tables of the part. It has the name of the part's schema
// instead of the word schema before a dot. A statement with the names of schemas does not
// depend on search_path, which the workers of a distributed database do not have.
func (p *part) sql(text string) string {
	if done, ok := p.texts.Load(text); ok {
		return done.(string)
	}
	done := strings.ReplaceAll(text, "schema.", p.schema+".")
	p.texts.Store(text, done)
	return done
}

// table returns the name of a table as an argument.
func (p *part) table(name string) string { return p.schema + "." + name }

// Keys of sessions and ids of thoughts are unique in their part. Listings and searches of
// several parts order them by a number that is unique in the store. With one part, and
// without Citus, it is the key.

// combine returns the number of a key or id.
func (p *part) combine(key int64) int64 { return shorten(key)*int64(p.of) + int64(p.number) }

// atLeast returns the least key whose number is n or greater.
func (p *part) atLeast(n int64) int64 {
	return lengthen(-floorDiv(int64(p.number)-n, int64(p.of)))
}

// atMost returns the greatest key whose number is n or less.
func (p *part) atMost(n int64) int64 { return lengthen(floorDiv(n-int64(p.number), int64(p.of))) }

// Keys from a worker of Citus begin at the worker's number times 2^48. Numbers have fewer
// bits for both, because a partial search needs some of theirs: 2^38 keys of a worker.
const (
	workerShift = 48
	keyBits     = 38
	maxWorker   = 1 << (63 - workerShift)
)

func shorten(key int64) int64 { return key>>workerShift<<keyBits | key&(1<<keyBits-1) }

// lengthen is the inverse of shorten. A number above all keys becomes the greatest key.
func lengthen(n int64) int64 {
	if n>>keyBits >= maxWorker {
		return math.MaxInt64
	}
	return n>>keyBits<<workerShift | n&(1<<keyBits-1)
}

// keyOf returns the key with a number, and its part.
func (s *Store) keyOf(n int64) (p *part, key int64) {
	of := int64(len(s.parts))
	return s.parts[n%of], lengthen(n / of)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// maxConcurrent is how many parts a listing, a search or a migration works on at a time.
const maxConcurrent = 8

// concurrently calls do for all items, several at a time, and returns an error of one of the
// calls. After an error it makes no further calls. A panic of a call is one of concurrently.
func concurrently[T any](items []T, limit int, do func(T) error) error {
	if len(items) == 1 {
		return do(items[0])
	}
	var next atomic.Int64
	var failed atomic.Pointer[outcome]
	var wg sync.WaitGroup
	for range min(limit, len(items)) {
		wg.Go(func() {
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					return
				}
				if o := try(items[i], do); o != nil {
					failed.CompareAndSwap(nil, o)
				}
			}
		})
	}
	wg.Wait()
	o := failed.Load()
	if o == nil {
		return nil
	}
	if o.panicked != nil {
		panic(o.panicked)
	}
	return o.err
}

// An outcome is how a call failed.
type outcome struct {
	err      error
	panicked any
}

// try returns how a call failed, nil if it did not.
func try[T any](item T, do func(T) error) (o *outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = &outcome{panicked: p}
		}
	}()
	if err := do(item); err != nil {
		return &outcome{err: err}
	}
	return nil
}

// checkServer makes the parts that were moved from another server ones of the server of conn.
func (s *Store) checkServer(ctx context.Context, conn *pgx.Conn) error {
	moved, err := eachPart(ctx, conn, s.parts, selectServer)
	if cannotTell(err) {
		return nil
	}
	for i, value := range moved {
		if string(value) == "t" {
			err = errors.Join(err, s.parts[i].checkServer(ctx, conn))
		}
	}
	return err
}

// eachPart executes a statement without arguments for each part, in one round trip, and
// returns the last column of their rows; nil stands for no row.
func eachPart(ctx context.Context, conn *pgx.Conn, parts []*part, text string) (values [][]byte, err error) {
	if len(parts) == 0 {
		return nil, nil
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.sql(text)
	}
	results, err := conn.PgConn().Exec(ctx, strings.Join(texts, ";\n")).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if r.Err != nil {
			return nil, r.Err
		}
		var value []byte
		if len(r.Rows) > 0 {
			value = r.Rows[0][len(r.Rows[0])-1]
		}
		values = append(values, value)
	}
	return values, nil
}
