package thinking_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// A person edits the file while thoughts are added. Thoughts that are lost because the
// editor saves an older version can be restored.
func TestPersonEditsMeanwhile(t *testing.T) {
	for name, save := range map[string]func(path, text string) error{
		"in place": func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) },
		"by renaming": func(path, text string) error {
			if err := os.WriteFile(path+".tmp", []byte(text), 0o644); err != nil {
				return err
			}
			return os.Rename(path+".tmp", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			const thoughts, edits = 60, 60
			d := newDesk(t)
			d.think(step(0))
			path := filepath.Join(d.dir, filepath.FromSlash(fileName))
			var wg sync.WaitGroup
			wg.Go(func() {
				for n := range edits {
					data, err := os.ReadFile(path)
					if err != nil {
						t.Error(err)
						return
					}
					text := strings.Replace(string(data), "\n## Thought 0/5", fmt.Sprintf("\nRemark %d.\n\n## Thought 0/5", n), 1)
					if err := save(path, text); err != nil {
						t.Error(err)
						return
					}
				}
			})
			for n := range thoughts {
				s := d.commit(sessionID, thought(step(n+1)))
				// An editor that saves that often may win every time.
				if _, err := d.files.Write(t.Context(), s); err != nil && sequent.CodeOf(err) != vault.CodeConflict {
					t.Errorf("%v", err)
				}
			}
			wg.Wait()
			d.think(step(thoughts + 1))
			d.sync(true)
			d.wantSame()
			have := map[int]bool{}
			for _, sec := range thinking.Sections(d.read()) {
				have[sec.Seq] = true
			}
			if len(have) != thoughts+2 {
				t.Errorf("sections of %d thoughts, want %d", len(have), thoughts+2)
			}
		})
	}
}
