package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/store/internal/record"
)

// bigStore names the environment variable with the directory that keeps generated
// stores between runs. Without it, each benchmark generates its own.
const bigStore = "SEQUENT_BIG_STORE"

// openBig opens a store of n thoughts in n/10 sessions, generating it if it does
// not exist. Texts have 200 to 1,200 bytes, and words with the frequencies of
// natural language.
func openBig(b *testing.B, n int) *Store {
	b.Helper()
	dir := os.Getenv(bigStore)
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("big-%d.db", n))
	if _, err := os.Stat(path); err != nil {
		if err := generate(b.Context(), path, n); err != nil {
			b.Fatal(err)
		}
	}
	s := openAt(b, path)
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

// generate creates the store under another name and renames it, so that a store
// at path is always complete.
func generate(ctx context.Context, path string, n int) error {
	unfinished := path + ".unfinished.db"
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(unfinished + suffix); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	s, err := Open(ctx, Config{Path: unfinished, Sync: Normal})
	if err != nil {
		return err
	}
	if err := s.index.close(); err != nil {
		return err
	}
	if err := os.Remove(s.index.path); err != nil && !os.IsNotExist(err) {
		return err
	}
	if s.index, err = newIndex(ctx, s); err != nil {
		return err
	}
	text := newTexts()
	sessions := n / 10
	// Append to many sessions in turn, so that the thoughts of one session are not
	// in adjacent rows.
	const interleaved = 1000
	for first := 0; first < sessions; first += interleaved {
		headers := make([]sequent.Header, min(interleaved, sessions-first))
		for step := range 10 {
			var batch []*sequent.Write
			for i := range headers {
				batch = append(batch, grow(&headers[i], first+i, step, text.next()))
			}
			for len(batch) > 0 {
				part := batch[:min(250, len(batch))]
				batch = batch[len(part):]
				if err := s.Commit(ctx, part); err != nil {
					return err
				}
			}
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	return os.Rename(unfinished, path)
}

// grow returns a write that appends a thought to a session, and updates its header.
func grow(h *sequent.Header, session, step int, text string) *sequent.Write {
	base := h.Position()
	at := record.Time(1_800_000_000_000_000 + int64(session)*1_000_000 + int64(step)*60_000_000)
	if step == 0 {
		base = sequent.Position{}
		*h = sequent.Header{
			Key:   sequent.Key{ID: sequent.ID(fmt.Sprintf("session-%06d", session))},
			Epoch: 1, State: sequent.Active, Title: text[:60], Created: at,
		}
	}
	h.Version++
	h.Len++
	h.Updated = at
	added := sequent.Entries([]sequent.Thought{{
		Draft: sequent.Draft{Number: h.Len, Total: 10, Text: text, More: step < 9},
		Seq:   h.Len, After: h.Len - 1, At: at,
	}})
	h.Prove(added)
	return &sequent.Write{
		Base: base, Header: *h, Entries: added,
		Rebase: func(sequent.Header, bool, []sequent.Entry) bool { return false },
	}
}

// texts generates texts from a vocabulary of 40,000 words. The k-th word is about
// 1/k as frequent as the first.
type texts struct {
	rng        *rand.Rand
	zipf       *rand.Zipf
	vocabulary []string
}

func newTexts() *texts {
	rng := rand.New(rand.NewPCG(7, 7))
	x := &texts{rng: rng, zipf: rand.NewZipf(rng, 1.01, 30, 39_999), vocabulary: make([]string, 40_000)}
	for i := range x.vocabulary {
		x.vocabulary[i] = word(i)
	}
	return x
}

// word returns the i-th word. Frequent words are short.
func word(i int) string {
	syllables := strings.Fields("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu")
	var b strings.Builder
	for i += 20; i > 0; i /= 20 {
		b.WriteString(syllables[i%20])
	}
	return b.String()
}

func (x *texts) next() string {
	size := 200 + x.rng.IntN(1001)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(x.vocabulary[x.zipf.Uint64()])
		b.WriteByte(' ')
	}
	return b.String()
}
