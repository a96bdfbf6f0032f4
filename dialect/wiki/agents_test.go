package wiki_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/store/sqlite"
	"github.com/sequent-dev/sequent/tool"
	"github.com/sequent-dev/sequent/vault/vaults"
)

// Several servers on one store and one vault, with agents on branches of one session at
// once: each thought is once in the log and once in the note.
func TestServersShareASession(t *testing.T) {
	const agents, steps = 6, 8
	dir := t.TempDir()
	type server struct {
		engine *sequent.Engine
		think  tool.Tool
	}
	open := func() server {
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "s.db")})
		if err != nil {
			t.Fatal(err)
		}
		s := server{engine: sequent.New(sequent.Config{Store: db})}
		v := vaults.New(vaults.Config{Dir: filepath.Join(dir, "vault"), Engine: s.engine, Maintain: true})
		s.think = wiki.New(wiki.Config{Vaults: v}).Tools[0]
		t.Cleanup(func() {
			if err := v.Close(); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	call := func(s server, format string, args ...any) string {
		reply, err := s.think.Call(t.Context(), tool.Call{Args: json.RawMessage(fmt.Sprintf(format, args...))})
		if err != nil || reply.Failed || strings.Contains(reply.Text, "⚠️") {
			t.Errorf("%s is answered %s, %v", args, reply.Text, err)
		}
		var out struct{ SessionID string }
		if err := json.Unmarshal(reply.JSON, &out); err != nil {
			t.Error(err)
		}
		return out.SessionID
	}
	first := open()
	id := call(first, `{"response":"[[begin]]","nextThoughtNeeded":true,"totalThoughts":9}`)
	var wg sync.WaitGroup
	for n := range agents {
		s := open()
		wg.Go(func() {
			for step := range steps {
				call(s, `{"sessionId":%q,"response":"[[agent-%d]] says step-%d-%d.","nextThoughtNeeded":true,"thoughtNumber":%d,`+
					`"totalThoughts":9,"branchFromThought":0,"branchId":"agent-%d"}`, id, n, n, step, step+1, n)
			}
		})
	}
	wg.Wait()
	note, err := os.ReadFile(filepath.Join(dir, "vault", "thinking", "sequential", id+".md"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := first.engine.Session(t.Context(), sequent.ID(id))
	if err != nil || s.Len() != agents*steps+1 || strings.Count(string(note), "\n## Thought ") != s.Len() {
		t.Fatalf("the session has %d thoughts (%v), and the note %s", s.Len(), err, note)
	}
	for th := range s.All() {
		if n := strings.Count(string(note), th.Text+"\n"); n != 1 {
			t.Errorf("%q is in the note %d times", th.Text, n)
		}
	}
}
