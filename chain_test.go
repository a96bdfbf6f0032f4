package sequent_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// An encoder writes an entry as docs/reference/format.md says, independently of the package.
type encoder struct {
	bytes.Buffer
	salt sequent.Salt
}

func (e *encoder) int(n int64) { _ = binary.Write(e, binary.BigEndian, n) }

func (e *encoder) name(s string) {
	_ = binary.Write(e, binary.BigEndian, uint32(len(s)))
	e.WriteString(s)
}

func (e *encoder) field(name string, v any) {
	e.name(name)
	switch v := v.(type) {
	case int64:
		e.WriteByte('i')
		e.int(v)
	case bool:
		e.WriteByte('b')
		e.WriteByte(map[bool]byte{true: 1}[v])
	case string:
		e.WriteByte('t')
		var text encoder
		text.Write(e.salt[:])
		text.name(name)
		text.WriteString(v)
		digest := sha256.Sum256(text.Bytes())
		e.Write(digest[:])
	}
}

// encode returns the encoding of an entry with fields.
func encode(previous sequent.Hash, e sequent.Entry, fields map[string]any) []byte {
	b := encoder{salt: e.Salt}
	b.WriteString("sequent entry 1\n")
	b.Write(previous[:])
	b.int(int64(e.Place))
	b.name(string(e.Kind))
	b.int(e.At.UnixMicro())
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		b.field(name, fields[name])
	}
	return b.Bytes()
}

// seal returns the seal of a header, by the rules of docs/reference/format.md.
func seal(h sequent.Header, texts map[string]string) sequent.Hash {
	var b encoder
	b.WriteString("sequent header 1\n")
	b.Write(h.Head[:])
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.name(name)
		b.WriteByte('t')
		b.name(texts[name])
	}
	for _, n := range []int64{
		int64(h.Branches), h.Bytes, h.Created.UnixMicro(), int64(h.Entries), h.Epoch, 0, int64(h.Len), int64(h.Notes), int64(h.Revisions), h.Updated.UnixMicro(), int64(h.Version),
	} {
		b.int(n)
	}
	return sha256.Sum256(b.Bytes())
}

// vector is the log of docs/reference/format.md, with the fields of its entries.
func vector() ([]sequent.Entry, []map[string]any) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)
	salt := func(b byte) sequent.Salt { return sequent.Salt(bytes.Repeat([]byte{b}, 16)) }
	thought := sequent.Thought{
		Draft: sequent.Draft{Number: 1, Total: 3, Text: "Begin with what is known."},
		Seq:   1, At: at,
	}
	full := sequent.Thought{
		Draft: sequent.Draft{
			Number: -2, Total: 3, Text: "Größer", Note: "n", Branch: "b", From: sequent.To(0), Revises: sequent.To(1),
			Revision: true, Final: true, Extend: true, Request: sequent.Request{Key: "k", Digest: "d"},
			Labels: map[string]string{"b": "", "a": "1"},
		},
		Seq: 2, After: 1, Supersedes: 1, At: at.Add(time.Second),
	}
	entries := append(sequent.Entries([]sequent.Thought{thought, full}), sequent.Entry{
		Kind: sequent.KindHeader, At: at.Add(2 * time.Second),
		Body: sequent.Body{"state": "completed", "labels.topic": "", "conclusion": "It holds."},
	}, sequent.Entry{
		Kind: "future", At: at.Add(3 * time.Second), Body: sequent.Body{"on": false, "off": true, "count": int64(-1), "zero": int64(0)},
	})
	for i := range entries {
		entries[i].Place, entries[i].Salt = i+1, salt(byte(i+1))
	}
	return entries, []map[string]any{
		{"number": int64(1), "seq": int64(1), "text": "Begin with what is known.", "total": int64(3)},
		{
			"after": int64(1), "branch": "b", "extend": true, "final": true, "from": int64(0), "labels.a": "1", "labels.b": "", "note": "n",
			"number": int64(-2), "request.digest": "d", "request.key": "k", "revises": int64(1), "revision": true,
			"seq": int64(2), "supersedes": int64(1), "text": "Größer", "total": int64(3),
		},
		{"conclusion": "It holds.", "labels.topic": "", "state": "completed"},
		{"count": int64(-1), "off": true, "on": false, "zero": int64(0)},
	}
}

// TestChainVector compares the package's hashes with an independent encoder, and with
// those of docs/reference/format.md and testdata/chain.json, which other languages test with.
func TestChainVector(t *testing.T) {
	entries, fields := vector()
	page, err := os.ReadFile("docs/reference/format.md")
	if err != nil {
		t.Fatal(err)
	}
	h := sequent.Header{
		Key: sequent.Key{Owner: "ann", ID: "a"}, Epoch: 7, Version: 3, Len: 2, Branches: 1, Revisions: 1, Bytes: 500, Entries: len(entries),
		State: sequent.Completed, Title: "Größer", Conclusion: "It holds.", Origin: sequent.Origin{Client: "editor"},
		Request: sequent.Request{Key: "k"}, Labels: map[string]string{"é": "1"}, Created: entries[0].At, Updated: entries[3].At,
	}
	for i := range entries {
		encoded := encode(h.Head, entries[i], fields[i])
		entries[i].Hash = sha256.Sum256(encoded)
		h.Head = entries[i].Hash
		for _, want := range []string{h.Head.String(), hex.EncodeToString(encoded)}[:1+map[bool]int{true: 1}[i == 0]] {
			if !strings.Contains(strings.Join(strings.Fields(string(page)), ""), want) {
				t.Errorf("docs/reference/format.md does not have %s of entry %d", want, i+1)
			}
		}
	}
	h.Seal = seal(h, map[string]string{
		"conclusion": "It holds.", "id": "a", "labels.é": "1", "origin.client": "editor", "owner": "ann", "request.key": "k",
		"state": "completed", "title": "Größer",
	})
	if !strings.Contains(string(page), h.Seal.String()) {
		t.Errorf("docs/reference/format.md does not have the seal %s", h.Seal)
	}
	if v := sequent.Verify(h, entries); v.Fault != nil || v.Head != h.Head {
		t.Errorf("Verify = %+v, fault %v; want the hashes of the encoder", v, v.Fault)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(entries); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/chain.json"
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile(file); err != nil || !bytes.Equal(stored, b.Bytes()) {
		t.Errorf("%s differs (%v); want\n%s", file, err, b.Bytes())
	}
	var back []sequent.Entry
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || !reflect.DeepEqual(back, entries) {
		t.Errorf("from JSON comes %+v, %v", back, err)
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
	for name, tt := range map[string]struct {
		damage func(h *sequent.Header, log []sequent.Entry) []sequent.Entry
		want   sequent.Fault
	}{
		"a text": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry {
			log[1].Thought.Text = "other"
			return log
		},
			sequent.Fault{Kind: sequent.FaultAltered, Place: 2, Seq: 2}},
		"a number": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry { log[0].Thought.Number++; return log },
			sequent.Fault{Kind: sequent.FaultAltered, Place: 1, Seq: 1}},
		"a time": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry {
			log[4].At = log[4].At.Add(time.Microsecond)
			log[4].Thought.At = log[4].At
			return log
		}, sequent.Fault{Kind: sequent.FaultAltered, Place: 5, Seq: 4}},
		"the time of a thought": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry {
			log[4].Thought.At = log[4].At.Add(time.Microsecond)
			return log
		}, sequent.Fault{Kind: sequent.FaultAltered, Place: 5, Seq: 4}},
		"a conclusion": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry {
			log[6].Body = sequent.Body{"conclusion": "undone"}
			return log
		}, sequent.Fault{Kind: sequent.FaultAltered, Place: 7}},
		"a hash and all that follow": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry {
			log[2].Hash[0]++
			return log
		}, sequent.Fault{Kind: sequent.FaultAltered, Place: 3, Seq: 3}},
		"without the first": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry { return log[1:] },
			sequent.Fault{Kind: sequent.FaultMissing, Place: 1, Seq: 1}},
		"without a thought": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry { return slices.Delete(log, 2, 3) },
			sequent.Fault{Kind: sequent.FaultMissing, Place: 3}},
		"without a header's entry": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry { return slices.Delete(log, 3, 4) },
			sequent.Fault{Kind: sequent.FaultMissing, Place: 4}},
		"two places exchanged": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry {
			log[1], log[2] = log[2], log[1]
			return log
		},
			sequent.Fault{Kind: sequent.FaultReordered, Place: 3, Seq: 3}},
		"two texts exchanged": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry {
			log[1].Thought.Text, log[2].Thought.Text = log[2].Thought.Text, log[1].Thought.Text
			return log
		}, sequent.Fault{Kind: sequent.FaultAltered, Place: 2, Seq: 2}},
		"an entry twice": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry { return slices.Insert(log, 2, log[1]) },
			sequent.Fault{Kind: sequent.FaultReordered, Place: 2, Seq: 2}},
		"cut off": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry { h.Len = 4; return log[:5] },
			sequent.Fault{Kind: sequent.FaultCutOff, Place: 6}},
		"an older head": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry { h.Head = log[5].Hash; return log },
			sequent.Fault{Kind: sequent.FaultHeader, Field: "head"}},
		"a thought without proof": {func(_ *sequent.Header, log []sequent.Entry) []sequent.Entry {
			return append(log, sequent.EntryOf(sequent.Thought{Seq: 6}))
		}, sequent.Fault{Kind: sequent.FaultUnproven, Place: 8, Seq: 6}},
		"another state": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry { h.State = sequent.Completed; return log },
			sequent.Fault{Kind: sequent.FaultHeader, Field: "state"}},
		"another conclusion": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry { h.Conclusion = ""; return log },
			sequent.Fault{Kind: sequent.FaultHeader, Field: "conclusion"}},
		"another label": {func(h *sequent.Header, log []sequent.Entry) []sequent.Entry {
			h.Labels = map[string]string{"topic": "rivers"}
			return log
		}, sequent.Fault{Kind: sequent.FaultHeader, Field: "labels.topic"}},
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
