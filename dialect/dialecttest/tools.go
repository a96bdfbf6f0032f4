package dialecttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/dialect"
	"github.com/sequent-dev/sequent/tool"
)

// ToolsJSON returns the tools of a dialect in the form of tools/list, for golden files
// and for counting their tokens. Members are sorted, but for those of schemas.
func ToolsJSON(d dialect.Dialect) []byte {
	list := make([]map[string]json.RawMessage, len(d.Tools))
	sorted := func(value, to any) {
		if err := json.Unmarshal(tool.JSONReply(value).JSON, to); err != nil {
			panic(err) // a published tool is JSON
		}
	}
	for i, t := range d.Tools {
		sorted(t.Spec, &list[i])
		var hints map[string]bool
		sorted(t.Annotations, &hints)
		list[i]["annotations"] = tool.JSONReply(hints).JSON
	}
	return tool.JSONReply(list).JSON
}

// checkTools compares the published tools with their golden file.
func checkTools(t *testing.T, cfg Config) {
	w := newWorld(t, cfg, sequent.NewMemoryStore())
	list := ToolsJSON(w.dialect)
	if again := ToolsJSON(newWorld(t, cfg, sequent.NewMemoryStore()).dialect); !bytes.Equal(list, again) {
		t.Errorf("the tools differ between two instances:\n%s\n%s", list, again)
	}
	if a := w.dialect.Tools[0].Annotations; a.ReadOnly || a.Destructive || a.Idempotent {
		t.Errorf("%s appends a thought with each call, its annotations are %+v", w.dialect.Tools[0].Name, a)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, list, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')

	golden := filepath.Join("testdata", "tools.json")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if errors.Is(err, os.ErrNotExist) {
		t.Fatalf("there is no %s; -update writes it", golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	// A checkout may have changed the line ends.
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the published tools have changed. got:\n%s\nwant:\n%s", got.Bytes(), want)
	}
}
