package sequent_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sequent-dev/sequent"
)

// Programs put thoughts into files and queues of their own.
func TestThoughtsAreEncoded(t *testing.T) {
	full := sequent.Draft{
		Number: 3, Total: 5, Text: "text", Note: "note", Branch: "b", From: sequent.To(0), Revises: sequent.To(-7),
		Revision: true, Extend: true, Final: true,
		Request: sequent.Request{Key: "k", Digest: "d"}, Labels: map[string]string{"a": "1"},
	}
	at := time.Date(2026, 7, 1, 12, 0, 0, 1000, time.UTC)
	for name, want := range map[string]any{
		"draft":         &full,
		"plain draft":   &sequent.Draft{Number: 1, Text: "text"},
		"zero draft":    &sequent.Draft{},
		"thought":       &sequent.Thought{Draft: full, Seq: 4, After: 3, Supersedes: 2, At: at},
		"plain thought": &sequent.Thought{Draft: sequent.Draft{Number: 1, Revises: sequent.To(1 << 40)}, Seq: 1, At: at},
	} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
		if err := json.Unmarshal(data, got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s as JSON: %s is %+v (%v), want %+v", name, data, got, err, want)
		}
	}
}

func TestRefAsJSON(t *testing.T) {
	type refs struct {
		A sequent.Ref
		B sequent.Ref `json:",omitzero"`
		C sequent.Ref `json:",omitzero"`
	}
	const want = `{"A":null,"C":0}`
	if got, err := json.Marshal(refs{C: sequent.To(0)}); err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
	var r refs
	if err := json.Unmarshal([]byte(want), &r); err != nil || r != (refs{C: sequent.To(0)}) {
		t.Errorf("%s is %+v (%v)", want, r, err)
	}
	for _, bad := range []string{`"7"`, `7.5`, `1e2`, `{}`, `99999999999999999999`, `true`} {
		if err := json.Unmarshal([]byte(bad), &r.A); err == nil || !strings.Contains(err.Error(), "number of a thought") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
