package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
)

// A statement cannot refer to the constant latest.
func TestMayWrite(t *testing.T) {
	if want := fmt.Sprint(" <= ", latest); !strings.HasSuffix(mayWrite, want) {
		t.Errorf("mayWrite is %q, want %q at the end", mayWrite, want)
	}
}

// TestDamagedLog changes rows behind the store's back.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		statement string
		want      sequent.Fault
	}{
		"a text":            {"UPDATE thoughts SET text = 'other' WHERE seq = 2", sequent.Fault{Kind: sequent.FaultAltered, Place: 2, Seq: 2}},
		"a missing thought": {"DELETE FROM thoughts WHERE seq = 2", sequent.Fault{Kind: sequent.FaultMissing, Place: 2, Seq: 2}},
		"the last thoughts": {"DELETE FROM thoughts WHERE seq > 3", sequent.Fault{Kind: sequent.FaultMissing, Place: 4}},
		"a cut log":         {"DELETE FROM entries; DELETE FROM thoughts WHERE seq > 3; UPDATE tool_sessions SET len = 3", sequent.Fault{Kind: sequent.FaultCutOff, Place: 4}},
		"a conclusion":      {"UPDATE tool_sessions SET conclusion = 'other'", sequent.Fault{Kind: sequent.FaultHeader, Field: "conclusion"}},
		"an entry's text":   {`UPDATE entries SET body = '{"conclusion":"other"}'`, sequent.Fault{Kind: sequent.FaultAltered, Place: 6}},
		"two places":        {"UPDATE thoughts SET place = 5 - place WHERE place IN (2, 3)", sequent.Fault{Kind: sequent.FaultReordered, Place: 3, Seq: 2}},
		"an added thought":  {"INSERT INTO thoughts (session, seq, number, total, text, more, after, at) SELECT key, 6, 6, 6, '', 1, 5, 0 FROM tool_sessions; UPDATE tool_sessions SET len = 6", sequent.Fault{Kind: sequent.FaultUnproven, Seq: 6}},
		"the head":          {"UPDATE tool_sessions SET head = zeroblob(32)", sequent.Fault{Kind: sequent.FaultHeader, Field: "head"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "sessions.db")
			s := openAt(t, path)
			defer s.Close()
			e := sequent.New(sequent.Config{Store: s, CacheBytes: -1})
			if _, err := e.Begin(t.Context(), "s", func(c *sequent.Change) error {
				c.Conclude("done")
				for i := range 5 {
					if _, err := c.Append(sequent.Draft{Number: i + 1, Text: fmt.Sprint("thought ", i+1), More: true}); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if v, err := e.Verify(t.Context(), "s"); err != nil || v.Fault != nil || v.Entries != 6 {
				t.Fatalf("Verify = %+v, %v", v, err)
			}
			raw(t, path, tt.statement)
			v, err := e.Verify(t.Context(), "s")
			if err != nil || v.Fault == nil || *v.Fault != tt.want {
				t.Errorf("Verify = fault %+v, %v; want %+v", v.Fault, err, tt.want)
			}
		})
	}
}
