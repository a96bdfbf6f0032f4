package mcpserver

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// faultIDs are the one part of a transcript that is by chance.
var faultIDs = regexp.MustCompile(`\(id [a-z2-7]{8}\)`)

// TestTranscripts plays each file of testdata: what the client writes, up to the
// end of its input, and everything that the server writes. Each section named
// client is a connection of its own to the same server.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("Glob = %v, %v; want files", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, _, _ := testServer(t)
			out := &txtar.Archive{Comment: ar.Comment}
			for i, f := range ar.Files {
				if f.Name != "client" {
					continue
				}
				got := faultIDs.ReplaceAllString(converse(t, s, string(f.Data)), "(id xxxxxxxx)")
				out.Files = append(out.Files, f, txtar.File{Name: "server", Data: []byte(got)})
				want := ""
				if i+1 < len(ar.Files) && ar.Files[i+1].Name == "server" {
					want = string(ar.Files[i+1].Data)
				}
				if got != want && !*update {
					t.Errorf("server wrote\n%s\nwant\n%s\nfor\n%s", got, want, f.Data)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
