package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/vault"
)

const (
	passageBytes = 2000 // a few paragraphs, which one vector can represent
	maxPassages  = 200  // of a note; the rest is found by its words alone
	maxTexts     = 64   // in one call of the Embedder
)

// passages divides a note into the texts that get vectors: runs of paragraphs of
// up to passageBytes, each after the title.
func (d *document) passages() []string {
	if d.gone {
		return nil
	}
	var out []string
	var b strings.Builder
	flush := func() {
		if text := strings.TrimSpace(b.String()); text != "" && len(out) < maxPassages {
			out = append(out, d.title+"\n\n"+text)
		}
		b.Reset()
	}
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(d.text, "\r\n", "\n"), "\n\n") {
		if b.Len()+len(paragraph) > passageBytes {
			flush()
		}
		for len(paragraph) > passageBytes {
			cut := passageBytes
			if i := strings.LastIndexAny(paragraph[:cut], " \n"); i > passageBytes/2 {
				cut = i
			}
			b.WriteString(strings.ToValidUTF8(paragraph[:cut], ""))
			flush()
			paragraph = paragraph[cut:]
		}
		b.WriteString(strings.ToValidUTF8(paragraph, "\uFFFD") + "\n\n")
	}
	flush()
	if len(out) == 0 {
		out = append(out, d.title)
	}
	return out
}

// embed asks the Embedder for the missing vectors and returns for how many texts it
// asked. One process embeds at a time. It reads the notes anew.
func (x *Index) embed(ctx context.Context, progress func(Progress)) (asked int, err error) {
	if x.cfg.Embedder == nil {
		return 0, nil
	}
	only := flock.New(x.path+"-embed.lock", flock.SetPermissions(0o600))
	if locked, err := only.TryLock(); err != nil || !locked {
		return 0, wrap(err)
	}
	defer func() { _ = only.Unlock() }() // it closes the file, which unlocks in any case
	var lacking []string
	err = x.read(ctx, func(tx *sql.Tx) (err error) {
		lacking, err = column[string](ctx, tx, "SELECT path FROM notes WHERE embedded != ? ORDER BY path", x.cfg.Model)
		return err
	})
	for done := 0; done < len(lacking) && err == nil; {
		some := lacking[done:min(done+maxTexts, len(lacking))]
		notes := make([]vault.URI, len(some))
		for i, p := range some {
			notes[i], _ = vault.PathURI(p) // it was one
		}
		docs, _ := x.load(ctx, notes)
		if _, err = x.apply(ctx, docs); err == nil {
			var n int
			n, err = x.embedNotes(ctx, docs)
			asked += n
		}
		done += len(some)
		progress(Progress{"embedding", done, len(lacking)})
	}
	if err == nil && len(lacking) > 0 {
		err = x.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM vectors WHERE key NOT IN (SELECT key FROM passages)")
			return err
		})
	}
	return asked, wrap(err)
}

// embedNotes stores the vectors of notes, and returns for how many texts it asked the
// model.
func (x *Index) embedNotes(ctx context.Context, docs []document) (asked int, err error) {
	texts := make(map[string]string) // by their keys, which are the SHA-256 of the model and the text
	keys := make([][]string, len(docs))
	for i := range docs {
		for _, text := range docs[i].passages() {
			key := fmt.Sprintf("%x", sha256.Sum256([]byte(x.cfg.Model+"\x00"+text)))
			keys[i] = append(keys[i], key)
			texts[key] = text
		}
	}
	var missing []string
	if err := x.read(ctx, func(tx *sql.Tx) (err error) {
		missing, err = column[string](ctx, tx, "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT key FROM vectors)",
			list(slices.Sorted(maps.Keys(texts))))
		return err
	}); err != nil {
		return 0, err
	}
	vectors := make(map[string][]byte)
	for some := range slices.Chunk(missing, maxTexts) {
		ask := make([]string, len(some))
		for i, key := range some {
			ask[i] = texts[key]
		}
		got, err := x.ask(ctx, ask)
		if err != nil {
			return asked, err
		}
		asked += len(some)
		for i, key := range some {
			vectors[key] = pack(got[i])
		}
	}
	return asked, x.write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		exec := executor(ctx, tx, &err)
		for key, vector := range vectors {
			exec("INSERT OR REPLACE INTO vectors VALUES (?, ?)", key, vector)
		}
		for i := range docs { // unless another process has changed it
			where := []any{docs[i].info.URI.Path(), docs[i].hash[:]}
			exec(`INSERT OR REPLACE INTO passages
				SELECT notes.id, j.key, value FROM notes, json_each(?) AS j WHERE notes.path = ? AND hash = ?`,
				append([]any{list(keys[i])}, where...)...)
			exec("UPDATE notes SET embedded = ? WHERE path = ? AND hash = ?", append([]any{x.cfg.Model}, where...)...)
		}
		return err
	})
}

// ask returns vectors of length 1 for texts. An error has the code
// CodeEmbeddingsFailed, unless ctx is cancelled.
func (x *Index) ask(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := x.cfg.Embedder.Embed(ctx, texts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	for i := 0; i < len(vectors) && err == nil; i++ {
		if len(vectors[i]) == 0 || len(vectors[i]) != len(vectors[0]) {
			err = fmt.Errorf("vectors of %d and %d numbers", len(vectors[0]), len(vectors[i]))
			continue
		}
		vectors[i], err = unit(vectors[i])
	}
	if err != nil {
		return nil, embeddingsFailed(err)
	}
	return vectors, nil
}

// unit returns a vector of length 1; one of length 0 is near no other and stays.
func unit(vector []float32) ([]float32, error) {
	sum := 0.0
	for _, f := range vector {
		sum += float64(f) * float64(f)
	}
	length := math.Sqrt(sum)
	if math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, errors.New("a vector holds NaN or infinity")
	}
	out := make([]float32, len(vector))
	for i, f := range vector {
		if length > 0 {
			out[i] = float32(float64(f) / length)
		}
	}
	return out, nil
}

func pack(vector []float32) []byte {
	out := make([]byte, 0, 4*len(vector))
	for _, f := range vector {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}
