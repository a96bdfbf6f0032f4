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

// replay makes a log of what a source tells, by the rules by which the engine
// would have made it at the time.
func (im *Importer) replay(h sequent.Header, steps []step) (session, error) {
	now := h.Created
	e := sequent.New(sequent.Config{
		Now:        func() time.Time { return now },
		Limits:     im.Engine.Limits(),
		CacheBytes: math.MaxInt64, // the session is there only once
	})
	ctx := context.Background() // nothing in memory waits
	if _, err := e.Begin(ctx, h.ID, func(c *sequent.Change) error {
		c.BeginIn("", h.Dialect)
		return nil
	}); err != nil {
		return session{}, err
	}
	for len(steps) > 0 {
		// What was thought at the same time is one change.
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

// derivedID makes an id of what identifies a session that has none.
func derivedID(prefix string, parts ...string) sequent.ID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sequent.ID(prefix + "-" + hex.EncodeToString(sum[:6]))
}

// skipBOM returns the reader behind a byte order mark.
func skipBOM(r io.Reader) *bufio.Reader {
	br := bufio.NewReaderSize(r, 64<<10)
	if b, _ := br.Peek(3); bytes.Equal(b, []byte("\uFEFF")) {
		_, _ = br.Discard(3) // it was just peeked at
	}
	return br
}

// readSessionFile reads the session file of the classic contract. It says when
// the session began and no more, so that is the time of all its thoughts.
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

// timeOfID returns the time in an id such as session-20250428-145302. Where
// there is none it is the beginning of Unix time: at least the same each time.
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
