package importer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// replay returns the session that an engine would have recorded for the steps of a
// source.
func (im *Importer) replay(h sequent.Header, steps []step) (session, error) {
	now := h.Created
	e := sequent.New(sequent.Config{
		Now:        func() time.Time { return now },
		Limits:     im.Engine.Limits(),
		CacheBytes: math.MaxInt64, // the session exists only in this engine
	})
	ctx := context.Background() // a memory store does not block
	if _, err := e.Begin(ctx, h.ID, func(c *sequent.Change) error {
		c.BeginIn("", h.Dialect)
		return nil
	}); err != nil {
		return session{}, err
	}
	for len(steps) > 0 {
		// Steps with the same time are one change.
		now = steps[0].at
		n := slices.IndexFunc(steps, func(s step) bool { return !s.at.Equal(now) })
		if n < 0 {
			n = len(steps)
		}
		if _, err := e.Update(ctx, h.ID, func(c *sequent.Change) error {
			for _, st := range steps[:n] {
				if _, err := c.Append(st.Draft); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return session{}, err
		}
		steps = steps[n:]
	}
	if !h.Updated.IsZero() {
		now = h.Updated
	}
	s, err := e.Update(ctx, h.ID, func(c *sequent.Change) error {
		if h.State != "" {
			c.SetState(h.State)
		}
		c.Conclude(h.Conclusion)
		for k, v := range h.Labels {
			c.SetLabel(k, v)
		}
		return nil
	})
	if err != nil {
		return session{}, err
	}
	return session{header: s.Header(), log: slices.AppendSeq(make([]sequent.Thought, 0, s.Len()), s.All())}, nil
}

// derivedID returns an id for a session without one, derived from parts.
func derivedID(prefix string, parts ...string) sequent.ID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sequent.ID(prefix + "-" + hex.EncodeToString(sum[:6]))
}

// skipBOM returns a reader of r without a leading byte order mark.
func skipBOM(r io.Reader) *bufio.Reader {
	br := bufio.NewReaderSize(r, 64<<10)
	if b, _ := br.Peek(3); bytes.Equal(b, []byte("\uFEFF")) {
		_, _ = br.Discard(3) // cannot fail after Peek
	}
	return br
}

// readSessionFile reads a session file of the classic contract. The file has only the
// time at which the session began, so that is the time of all its thoughts.
func (im *Importer) readSessionFile(r io.Reader) (session, error) {
	d, err := archive.ReadSessionFile(r)
	if err != nil {
		return session{}, err
	}
	id := sequent.ID(d.ID)
	if id == "" {
		first := ""
		if len(d.Thoughts) > 0 {
			first = d.Thoughts[0].Text
		}
		id = derivedID("session", d.Timestamp.String(), first)
	}
	at := d.Timestamp
	if at.IsZero() {
		at = timeOfID(d.ID)
	}
	steps := make([]step, len(d.Thoughts))
	for i, t := range d.Thoughts {
		steps[i] = step{t, at}
	}
	return im.replay(sequent.Header{Key: sequent.Key{ID: id}, Dialect: "classic", Created: at}, steps)
}

// timeOfID returns the time in an id such as session-20250428-145302, or the Unix epoch
// if there is none, so that the result is always the same.
func timeOfID(id string) time.Time {
	const layout = "20060102-150405"
	_, stamp, _ := strings.Cut(id, "-")
	if len(stamp) >= len(layout) {
		if at, err := time.Parse(layout, stamp[:len(layout)]); err == nil {
			return at
		}
	}
	return time.Unix(0, 0).UTC()
}
