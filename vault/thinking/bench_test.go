package thinking_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/vault"
	"github.com/sequent-dev/sequent/vault/thinking"
)

// The cost of a thought does not depend on the length of the session: B/thought is what is
// written for it, with its share of front matter and marks.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{10, 2_000} {
		b.Run(fmt.Sprint("at=", n), func(b *testing.B) {
			dir := b.TempDir()
			v, err := vault.Open(vault.Config{Dir: dir})
			if err != nil {
				b.Fatal(err)
			}
			defer v.Close()
			files := thinking.New(thinking.Config{Vault: v})
			engine := sequent.New(sequent.Config{})
			text := "Considering [[rate-limiting]] for [[JWT]] refresh. " + strings.Repeat("What is known of it so far. ", 20)
			think := func(n int) *sequent.Session {
				s, err := engine.Ensure(b.Context(), sessionID, func(c *sequent.Change) error {
					for range n {
						if _, err := c.Append(sequent.Draft{Number: c.Session().Len(), Total: c.Session().Len() + 1, Text: text, More: true}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				return s
			}
			if err := files.Write(b.Context(), think(n)); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(dir, fileName))
			if err != nil {
				b.Fatal(err)
			}
			before, counted := written()
			for b.Loop() {
				if err := files.Write(b.Context(), think(1)); err != nil {
					b.Fatal(err)
				}
			}
			after, _ := written()
			if counted {
				b.ReportMetric(float64(after-before)/float64(b.N), "B/thought")
			}
			b.ReportMetric(float64(info.Size()), "B/file")
		})
	}
}

// written returns how many bytes this process has written, on systems that count them.
func written() (int, bool) {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, "wchar: "); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			return n, err == nil
		}
	}
	return 0, false
}
