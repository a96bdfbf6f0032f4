package wiki_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect/wiki"
	"github.com/sequent-dev/sequent/internal/app/vaults"
	"github.com/sequent-dev/sequent/internal/lazyregexp"
	"github.com/sequent-dev/sequent/tool"
)

var example = lazyregexp.New("(?s)```json\n(.*?)\n```")

// Every tool answers learn with its documentation, even without the arguments that it
// requires, and has only examples that its contract accepts.
func TestLearn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	v := vaults.New(vaults.Config{Dir: dir, Engine: sequent.New(sequent.Config{})})
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, tl := range v.Dialect(wiki.Config{}).Tools {
		text := ""
		for _, args := range []string{`{"learn": true}`, `{"learn": "True", "thoughtNumber": 7, "query": ""}`} {
			reply, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(args)})
			if err != nil || reply.Failed || !strings.HasPrefix(reply.Text, "# "+tl.Title+"\n\n") {
				t.Fatalf("%s %s: %+v, %v", tl.Name, args, reply, err)
			}
			text = reply.Text
		}
		examples := example().FindAllStringSubmatch(text, -1)
		if len(examples) == 0 {
			t.Errorf("%s has no examples", tl.Name)
		}
		for _, e := range examples {
			reply, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(e[1])})
			if err != nil || strings.Contains(reply.Text, "INVALID_ARGUMENT") || strings.Contains(reply.Text, "unknown fields") {
				t.Errorf("%s %s: %s, %v", tl.Name, e[1], reply.Text, err)
			}
		}
		if reply, err := tl.Call(t.Context(), tool.Call{Args: json.RawMessage(`{"learn": false}`)}); err != nil || strings.HasPrefix(reply.Text, "# ") {
			t.Errorf("%s with learn false: %+v, %v", tl.Name, reply, err)
		}
	}
}
