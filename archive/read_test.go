package archive_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/archive"
)

// What a text may be, from plain to hostile.
func anyText(rng *rand.Rand) string {
	pieces := []string{
		"plain", "", " ", "\n", "\t", "\r\n", `"quoted"`, `\`, "<b>&amp;</b>", "\x00", "\x1b[31m", "\u2028", "\u202e",
		"中文", "👩‍👩‍👧‍👦", "é", "é", "\ufeff", "\ufffd", "{", "[]", "null", "# x", "---", "[[link]]", "𝔘", "\U0010ffff",
	}
	var b strings.Builder
	for range rng.IntN(6) {
		b.WriteString(pieces[rng.IntN(len(pieces))])
	}
	return b.String()
}

// anySession records a random session through the verbs of an engine.
func anySession(t *testing.T, e *sequent.Engine, rng *rand.Rand, id sequent.ID) *sequent.Session {
	t.Helper()
	maybe := func() bool { return rng.IntN(3) == 0 }
	labels := func() map[string]string {
		if !maybe() {
			return nil
		}
		return map[string]string{"a": anyText(rng), "given.isRevision": "false", anyText(rng): "x"}
	}
	branch := []string{"", "", "", "b", "__proto__", "中", "a/../b"}
	for i := range rng.IntN(12) + 1 {
		_, err := e.Ensure(t.Context(), id, func(c *sequent.Change) error {
			if c.Session().Version() == 0 {
				c.BeginIn([]string{"", "alice's", "scope"}[rng.IntN(3)], []string{"standard", "classic", ""}[rng.IntN(3)])
			}
			for range rng.IntN(3) {
				d := sequent.Draft{
					Number: rng.IntN(9) - 2, Total: rng.IntN(1 << 40), Text: anyText(rng), Note: anyText(rng),
					Branch: branch[rng.IntN(len(branch))], Revision: maybe(), Final: maybe(), Extend: maybe(), Labels: labels(),
				}
				if maybe() {
					d.From = sequent.To(rng.IntN(5) - 1)
				}
				if maybe() {
					d.Revises = sequent.To(rng.IntN(5) - 1)
				}
				if maybe() {
					d.Request = sequent.Request{Key: fmt.Sprintf("k%d-%d", i, rng.Int()), Digest: anyText(rng)}
				}
				if _, err := c.Append(d); err != nil {
					return err
				}
			}
			for k, v := range labels() {
				c.SetLabel(k, v)
			}
			if maybe() {
				c.Conclude(anyText(rng))
			}
			if maybe() {
				c.SetState([]sequent.State{sequent.Active, sequent.Completed, sequent.Cancelled, sequent.Abandoned}[rng.IntN(4)])
			}
			if maybe() {
				c.ExpireAt(time.Now().Add(time.Duration(1+rng.IntN(1000)) * time.Hour))
			}
			c.SetLabel("turn", fmt.Sprint(i))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := e.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A session that is exported, with or without its hashes, and imported into an empty store, verifies and is exported from
// there in the same bytes. A second import does nothing.
func TestExportIsLossless(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	from, to := sequent.New(sequent.Config{}), sequent.New(sequent.Config{})
	for n := range 200 {
		owner := []string{"", "alice", "bob@example.com"}[rng.IntN(3)]
		id := sequent.ID(fmt.Sprintf("s%d", n))
		s := anySession(t, from.Owned(owner), rng, id)
		h, entries := entriesOf(t, from.Owned(owner), id)
		proven := n%2 == 0
		want := archive.JSON(s)
		if proven {
			if rng.IntN(3) == 0 && len(entries) > 0 {
				entries[rng.IntN(len(entries))].Mask()
			}
			want = archive.Log(h, entries)
		}
		for _, outcome := range []sequent.Restored{sequent.RestoredNew, sequent.RestoredNothing} {
			read, log, err := archive.ReadJSON(bytes.NewReader(want))
			if err != nil {
				t.Fatalf("%v in\n%s", err, want)
			}
			if v := sequent.Verify(read, log); proven && (v.Fault != nil || v.Head != h.Head) {
				t.Fatalf("%v in\n%s", v.Fault, want)
			}
			if did, err := to.Owned(owner).Restore(t.Context(), read, log); err != nil || did != outcome {
				t.Fatalf("%v, %v for\n%s", did, err, want)
			}
			back, err := to.Owned(owner).Session(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			got := archive.JSON(back)
			if proven {
				got = archive.Log(entriesOf(t, to.Owned(owner), id))
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("got\n%s\nwant\n%s", got, want)
			}
		}
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for doc, want := range map[string]string{
		``:   "truncated",
		`[]`: "the document has the wrong type array",
		`{}`: `unknown format ""`,
		`{"format":"other","version":1,"log":[]}`:                                        `unknown format "other"`,
		`{"format":"sequent-session","version":2,"log":[]}`:                              "version 2",
		`{"format":"sequent-session","log":[]}`:                                          "version 0",
		`{"format":"sequent-session","version":1}`:                                       "no log",
		`{"format":"sequent-session","version":1,"log":{}}`:                              "log has the wrong type object",
		`{"format":"sequent-session","version":1,"log":[{"thought":{"seq":"1"}}]}`:       "seq has the wrong type string",
		`{"format":"sequent-session","version":1,"log":[{"hash":"12"}]}`:                 `"12" does not have 32 bytes in hexadecimal`,
		`{"format":"sequent-session","version":1,"log":[{"fields":{"a":[]}}]}`:           "the fields of an entry are damaged",
		`{"format":"sequent-session","version":1,"log":[{"thought":{"number":1.5}}]}`:    "number has the wrong type number 1.5",
		`{"format":"sequent-session","version":1,"log":[{"thought":{"text":"a`:           "truncated",
		`{"format":"sequent-session","version":1,"session":{"created":"soon"},"log":[]}`: "parsing time",
		`{"format":"sequent-session","version":1,"log":[]} x`:                            "data after the end",
		`{"format":"sequent-session","version":1,"x":` + strings.Repeat("[", 2e6):        "exceeded max depth",
	} {
		if _, _, err := archive.ReadJSON(strings.NewReader(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: got %v, want %q in it", doc, err, want)
		}
	}
	// What is not known is passed over.
	h, log, err := archive.ReadJSON(strings.NewReader(
		`{"format":"sequent-session","version":1,"new":{"a":[1,{"b":2}]},"session":{"id":"s"},"log":[{"kind":"thought","thought":{"seq":1,"mood":"good"}}]}`))
	if err != nil || h.ID != "s" || len(log) != 1 {
		t.Errorf("got %+v, %v, %v", h, log, err)
	}
}
