package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sequent-dev/sequent"
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
	s, err := e.Session(ctx, h.ID)
	if err != nil {
		return session{}, err
	}
	return session{header: s.Header(), log: sequent.Entries(s.Thoughts())}, nil
}

// derivedID returns an id for a session without one, derived from parts.
func derivedID(prefix string, parts ...string) sequent.ID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sequent.ID(prefix + "-" + hex.EncodeToString(sum[:6]))
}

// parseSessionFile reads a session file of the classic contract. The file has only the
// time at which the session began, so that is the time of all its thoughts.
func (im *Importer) parseSessionFile(data []byte) (session, error) {
	d, err := readSessionFile(bytes.NewReader(data))
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
