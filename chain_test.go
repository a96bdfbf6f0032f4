package sequent_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// TestChainVector verifies testdata/chain.json, which other languages test with, and compares it with
// docs/reference/format.md. The verifier in Python, which package archive tests, does so independently.
func TestChainVector(t *testing.T) {
	data, err := os.ReadFile("testdata/chain.json")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("docs/reference/format.md")
	if err != nil {
		t.Fatal(err)
	}
	var entries []sequent.Entry
	if err := json.Unmarshal(data, &entries); err != nil || len(entries) != 4 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	h := sequent.Header{
		Key: sequent.Key{Owner: "ann", ID: "a"}, Epoch: 7, Version: 3, Len: 2, Branches: 1, Revisions: 1, Bytes: 500, Entries: 4,
		State: sequent.Completed, Title: "Größer", Conclusion: "It holds.", Origin: sequent.Origin{Client: "editor"},
		Request: sequent.Request{Key: "k"}, Labels: map[string]string{"é": "1"}, Created: entries[0].At, Updated: entries[3].At,
		Head: entries[3].Hash,
	}
	h.Seal = h.Digest()
	if v := sequent.Verify(h, entries); v.Fault != nil || v.Head != h.Head {
		t.Errorf("Verify = %+v, fault %v", v, v.Fault)
	}
	for _, want := range []sequent.Hash{entries[0].Hash, entries[1].Hash, entries[2].Hash, entries[3].Hash, h.Seal} {
		if !bytes.Contains(page, []byte(want.String())) {
			t.Errorf("docs/reference/format.md does not have %s", want)
		}
	}
	_, shown, _ := strings.Cut(string(page), "It is encoded in 169 bytes:\n\n```\n")
	shown, _, _ = strings.Cut(shown, "```")
	encoded, err := hex.DecodeString(strings.Join(strings.Fields(shown), ""))
	if err != nil || len(encoded) != 169 || sha256.Sum256(encoded) != entries[0].Hash {
		t.Errorf("docs/reference/format.md encodes the first entry as %d bytes (%v) with another hash than %s", len(encoded), err, entries[0].Hash)
	}
	if back, err := json.MarshalIndent(entries, "", "  "); err != nil || !bytes.Equal(append(back, '\n'), data) {
		t.Errorf("to JSON goes %s, %v", back, err)
	}
}

// chained returns a session of 5 thoughts and 2 changes of its header.
func chained(t *testing.T) (sequent.Header, []sequent.Entry) {
	t.Helper()
	e := sequent.New(sequent.Config{})
	for i := range 5 {
		if _, err := e.Ensure(t.Context(), "s", func(c *sequent.Change) error {
			if i == 2 {
				c.SetTitle("a title")
				c.SetLabel("topic", "pools")
			}
			if i == 4 {
				c.Conclude("done")
				c.ExpireAt(time.Now().Add(time.Hour))
			}
			_, err := c.Append(sequent.Draft{Number: i + 1, Text: fmt.Sprint("thought ", i+1)})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	h, entries, err := e.Entries(t.Context(), "s", sequent.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return h, entries
}

func TestEntries(t *testing.T) {
	h, entries := chained(t)
	var got []string
	for i, e := range entries {
		got = append(got, fmt.Sprint(e.Kind, e.Thought.Seq, e.Body))
		if e.Place != i+1 || e.Salt == (sequent.Salt{}) || i > 0 && e.Salt == entries[i-1].Salt {
			t.Errorf("entry %d has place %d and salt %x", i+1, e.Place, e.Salt)
		}
	}
	want := []string{
		"thought1 map[]", "thought2 map[]", "thought3 map[]", "header0 map[labels.topic:pools title:a title]",
		"thought4 map[]", "thought5 map[]", "header0 map[conclusion:done]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the log is %q, want %q", got, want)
	}
	if v := sequent.Verify(h, entries); v.Fault != nil || v.Entries != 7 || v.Head != h.Head || v.Masked != nil {
		t.Errorf("Verify = %+v, fault %v", v, v.Fault)
	}
	e := sequent.New(sequent.Config{})
	if _, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error { c.ExpireAt(time.Now().Add(time.Hour)); return nil }); err != nil {
		t.Fatal(err)
	}
	if h, entries, err := e.Entries(t.Context(), "s", sequent.Position{}); err != nil || len(entries) != 0 || h.Head != (sequent.Hash{}) {
		t.Errorf("a session that only expires has %d entries, %v", len(entries), err)
	}
}

func TestVerify(t *testing.T) {
	type damage = func(h *sequent.Header, log []sequent.Entry) []sequent.Entry
	entry := func(i int, change func(*sequent.Entry)) damage {
		return func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry { change(&log[i]); return log }
	}
	header := func(change func(*sequent.Header)) damage {
		return func(h *sequent.Header, log []sequent.Entry) []sequent.Entry { change(h); return log }
	}
	whole := func(change func([]sequent.Entry) []sequent.Entry) damage {
		return func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry { return change(log) }
	}
	type fault = sequent.Fault
	for name, tt := range map[string]struct {
		damage damage
		want   fault
	}{
		"a text":   {entry(1, func(e *sequent.Entry) { e.Thought.Text = "other" }), fault{Kind: sequent.FaultAltered, Place: 2, Seq: 2}},
		"a number": {entry(0, func(e *sequent.Entry) { e.Thought.Number++ }), fault{Kind: sequent.FaultAltered, Place: 1, Seq: 1}},
		"a time": {entry(4, func(e *sequent.Entry) { e.At = e.At.Add(time.Microsecond); e.Thought.At = e.At }),
			fault{Kind: sequent.FaultAltered, Place: 5, Seq: 4}},
		"the time of a thought": {entry(4, func(e *sequent.Entry) { e.Thought.At = e.At.Add(time.Microsecond) }),
			fault{Kind: sequent.FaultAltered, Place: 5, Seq: 4}},
		"a conclusion": {entry(6, func(e *sequent.Entry) { e.Body = sequent.Body{"conclusion": "undone"} }), fault{Kind: sequent.FaultAltered, Place: 7}},
		"a hash":       {entry(2, func(e *sequent.Entry) { e.Hash[0]++ }), fault{Kind: sequent.FaultAltered, Place: 3, Seq: 3}},
		"without the first": {whole(func(log []sequent.Entry) []sequent.Entry { return log[1:] }),
			fault{Kind: sequent.FaultMissing, Place: 1, Seq: 1}},
		"without a thought": {whole(func(log []sequent.Entry) []sequent.Entry { return slices.Delete(log, 2, 3) }),
			fault{Kind: sequent.FaultMissing, Place: 3}},
		"without a header's entry": {whole(func(log []sequent.Entry) []sequent.Entry { return slices.Delete(log, 3, 4) }),
			fault{Kind: sequent.FaultMissing, Place: 4}},
		"two places exchanged": {whole(func(log []sequent.Entry) []sequent.Entry { log[1], log[2] = log[2], log[1]; return log }),
			fault{Kind: sequent.FaultReordered, Place: 3, Seq: 3}},
		"an entry twice": {whole(func(log []sequent.Entry) []sequent.Entry { return slices.Insert(log, 2, log[1]) }),
			fault{Kind: sequent.FaultReordered, Place: 2, Seq: 2}},
		"cut off": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry { h.Len = 4; return log[:5] },
			fault{Kind: sequent.FaultCutOff, Place: 6}},
		"an older head": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry { h.Head = log[5].Hash; return log },
			fault{Kind: sequent.FaultHeader, Field: "head"}},
		"a thought without proof": {whole(func(log []sequent.Entry) []sequent.Entry {
			return append(log, sequent.EntryOf(sequent.Thought{Seq: 6}))
		}), fault{Kind: sequent.FaultUnproven, Place: 8, Seq: 6}},
		"another state":      {header(func(h *sequent.Header) { h.State = sequent.Completed }), fault{Kind: sequent.FaultHeader, Field: "state"}},
		"another conclusion": {header(func(h *sequent.Header) { h.Conclusion = "" }), fault{Kind: sequent.FaultHeader, Field: "conclusion"}},
		"another label": {header(func(h *sequent.Header) { h.Labels = map[string]string{"topic": "rivers"} }),
			fault{Kind: sequent.FaultHeader, Field: "labels.topic"}},
	} {
		t.Run(name, func(t *testing.T) {
			h, log := chained(t)
			v := sequent.Verify(h, tt.damage(&h, log))
			if v.Fault == nil {
				t.Fatal("no fault was found")
			}
			got := *v.Fault
			if tt.want.Seq == 0 { // a missing entry is not known to have been a thought
				got.Seq = 0
			}
			if got != tt.want || v.Fault.String() == "" {
				t.Errorf("the fault is %+v (%v), want %+v", *v.Fault, v.Fault, tt.want)
			}
			if _, err := sequent.New(sequent.Config{}).Restore(t.Context(), h, log); v.Fault.Kind != sequent.FaultCutOff &&
				name != "an entry twice" && name != "a thought without proof" && name != "without the first" &&
				sequent.CodeOf(err) != sequent.CodeInvalidSession {
				t.Errorf("Restore = %v, want code %s", err, sequent.CodeInvalidSession)
			}
		})
	}
}

// A copy without a text verifies, and does not help to guess the text.
func TestMask(t *testing.T) {
	h, log := chained(t)
	want := log[1].Hash
	log[1].Mask()
	if v := sequent.Verify(h, log); v.Fault != nil || !slices.Equal(v.Masked, []int{2}) {
		t.Errorf("masked, Verify = %+v, fault %v", v, v.Fault)
	}
	log[1].Thought.Text = ""
	if v := sequent.Verify(h, log); v.Fault != nil || log[1].Hash != want || log[1].Salt != (sequent.Salt{}) {
		t.Errorf("without the text, Verify = %+v, fault %v, salt %x", v, v.Fault, log[1].Salt)
	}
	if len(log[1].Masked) != 1 || log[1].Masked["text"] == (sequent.Hash{}) {
		t.Errorf("the digests are %v, want that of the text", log[1].Masked)
	}
	e := sequent.New(sequent.Config{})
	if did, err := e.Restore(t.Context(), h, log); err != nil || did != sequent.RestoredNew {
		t.Fatalf("Restore = %v, %v", did, err)
	}
	now, back, err := e.Entries(t.Context(), "s", sequent.Position{})
	if err != nil || now.Head != h.Head || !reflect.DeepEqual(back, log) {
		t.Errorf("restored:\n%+v\nwant\n%+v (%v)", back, log, err)
	}
	log[1].Masked["text"] = sequent.Hash{1}
	if v := sequent.Verify(h, log); v.Fault == nil || v.Fault.Kind != sequent.FaultAltered {
		t.Errorf("with another digest, Verify = %+v", v)
	}
}

// A session that was restored continues its chain; one without proofs gets them.
func TestRestoreChain(t *testing.T) {
	h, log := chained(t)
	intact := func(e *sequent.Engine) (sequent.Header, []sequent.Entry) {
		t.Helper()
		now, entries, err := e.Entries(t.Context(), "s", sequent.Position{})
		if v := sequent.Verify(now, entries); err != nil || v.Fault != nil {
			t.Errorf("Verify = %+v, fault %v, %v", v, v.Fault, err)
		}
		return now, entries
	}
	e := sequent.New(sequent.Config{})
	if did, err := e.Restore(t.Context(), h, log); err != nil || did != sequent.RestoredNew {
		t.Fatalf("Restore = %v, %v", did, err)
	}
	if did, err := e.Restore(t.Context(), h, log); err != nil || did != sequent.RestoredNothing {
		t.Fatalf("Restore again = %v, %v", did, err)
	}
	if now, entries := intact(e); now.Head != h.Head || !reflect.DeepEqual(entries, log) {
		t.Errorf("restored:\n%+v\nwant\n%+v", entries, log)
	}
	ensure(t, e, "s", plain(6))
	longer, more := intact(e)

	first := sequent.New(sequent.Config{}) // has an earlier state with the same proofs
	if _, err := first.Restore(t.Context(), h, log); err != nil {
		t.Fatal(err)
	}
	other := sequent.New(sequent.Config{}) // has the same thoughts with proofs of its own
	if _, err := other.Restore(t.Context(), h, sequent.Entries(sequent.Thoughts(log))); err != nil {
		t.Fatal(err)
	}
	if now, entries := intact(other); now.Head == h.Head || len(entries) != 6 || entries[5].Kind != sequent.KindHeader {
		t.Errorf("without proofs, the log is restored as %+v", entries)
	}
	for _, store := range []*sequent.Engine{first, other} {
		if did, err := store.Restore(t.Context(), longer, more); err != nil || did != sequent.RestoredMore {
			t.Fatalf("Restore of the longer log = %v, %v", did, err)
		}
		if now, _ := intact(store); now.Len != 6 || (now.Head == longer.Head) != (store == first) {
			t.Errorf("%d thoughts with head %v, want 6", now.Len, now.Head)
		}
	}
}
