package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/sequent-dev/sequent/internal/indexfile"
)

const (
	passageBytes = 2000 // a few paragraphs, which one vector can represent
	maxPassages  = 200  // of a note; the rest is found by its words alone
	maxTexts     = 64   // in one call of the Embedder
	batchNotes   = 100  // embedded before their vectors are stored
)

// passages divides a note into the texts that get vectors: runs of paragraphs of
// up to passageBytes, each after the title.
func passages(title, body string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if text := strings.TrimSpace(b.String()); text != "" && len(out) < maxPassages {
			out = append(out, title+"\n\n"+text)
		}
		b.Reset()
	}
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
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
		out = append(out, title)
	}
	return out
}

// A pending note lacks vectors.
type pending struct {
	id       int64
	hash     []byte
	passages []string
}

// embed asks the Embedder for the missing vectors and returns for how many texts
// it asked. It holds the lock only while it stores vectors.
func (x *Index) embed(ctx context.Context, progress func(Progress)) (int, error) {
	if x.embedder == nil {
		return 0, nil
	}
	only := flock.New(x.path+"-embed.lock", flock.SetPermissions(0o600))
	switch held, err := only.TryLock(); {
	case err != nil:
		return 0, wrap(err)
	case !held: // another process is embedding
		return 0, nil
	}
	defer only.Unlock() //nolint:errcheck // it closes the lock file, which releases the lock in any case
	asked, done, first := 0, 0, 0
	for {
		batch, left, err := x.lacking(ctx)
		if err != nil || len(batch) == 0 {
			return asked, wrap(err)
		}
		if first = max(first, left); done > 2*first { // the model may change its size once, which embeds all notes again
			return asked, embeddingsFailed(errors.New("its vectors keep changing their size"))
		}
		vectors, err := x.vectorsOf(ctx, batch)
		if err != nil {
			return asked, wrap(err)
		}
		asked += len(vectors)
		if err := x.write(ctx, func(w *writer) error { return w.putVectors(ctx, x.model, batch, vectors) }); err != nil {
			return asked, err
		}
		done += len(batch)
		progress(Progress{"embedding", done, done - len(batch) + left})
	}
}

// lacking returns some of the notes that lack vectors, and how many there are.
func (x *Index) lacking(ctx context.Context) (some []pending, all int, err error) {
	v, err := x.view(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer v.close()
	if err := v.tx.QueryRowContext(ctx, "SELECT count(*) FROM notes WHERE embedded != ?", x.model).Scan(&all); err != nil || all == 0 {
		return nil, 0, err
	}
	rows, err := v.tx.QueryContext(ctx, "SELECT id, hash, title, body FROM notes WHERE embedded != ? ORDER BY id LIMIT ?", x.model, batchNotes)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var p pending
		var title, body string
		if err := rows.Scan(&p.id, &p.hash, &title, &body); err != nil {
			return nil, 0, err
		}
		p.passages = passages(title, body)
		some = append(some, p)
	}
	return some, all, rows.Err()
}

// vectorsOf asks the model for the vectors of passages that the index lacks, and
// returns them by the hashes of the texts.
func (x *Index) vectorsOf(ctx context.Context, batch []pending) (map[[sha256.Size]byte][]float32, error) {
	missing, err := x.unknown(ctx, batch)
	if err != nil {
		return nil, err
	}
	vectors := make(map[[sha256.Size]byte][]float32, len(missing))
	for some := range slices.Chunk(missing, maxTexts) {
		got, err := x.ask(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, vector := range got {
			vectors[sha256.Sum256([]byte(some[i]))] = vector
		}
	}
	return vectors, nil
}

// unknown returns the passages without vectors, each once.
func (x *Index) unknown(ctx context.Context, batch []pending) (missing []string, err error) {
	v, err := x.view(ctx)
	if err != nil {
		return nil, err
	}
	defer v.close()
	seen := make(map[string]bool)
	for _, p := range batch {
		for _, text := range p.passages {
			if seen[text] {
				continue
			}
			seen[text] = true
			hash := sha256.Sum256([]byte(text))
			var known bool
			if err := v.tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM vectors WHERE model = ? AND hash = ?)",
				x.model, hash[:]).Scan(&known); err != nil {
				return nil, err
			}
			if !known {
				missing = append(missing, text)
			}
		}
	}
	return missing, nil
}

// ask returns vectors of length 1 for texts. An error has the code
// CodeEmbeddingsFailed, unless ctx is cancelled.
func (x *Index) ask(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := x.embedder.Embed(ctx, texts)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, embeddingsFailed(err)
	case len(vectors) != len(texts):
		return nil, embeddingsFailed(fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts)))
	}
	out := make([][]float32, len(vectors))
	for i, vector := range vectors {
		if len(vector) == 0 || len(vector) != len(vectors[0]) {
			return nil, embeddingsFailed(fmt.Errorf("vectors of %d and %d numbers", len(vectors[0]), len(vector)))
		}
		if out[i], err = unitVector(vector); err != nil {
			return nil, embeddingsFailed(err)
		}
	}
	return out, nil
}

func unitVector(vector []float32) ([]float32, error) {
	sum := 0.0
	for _, f := range vector {
		sum += float64(f) * float64(f)
	}
	length := math.Sqrt(sum)
	if math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, errors.New("a vector holds NaN or infinity")
	}
	out := make([]float32, len(vector))
	if length > 0 { // else the text is near no other
		for i, f := range vector {
			out[i] = float32(float64(f) / length)
		}
	}
	return out, nil
}

// putVectors stores vectors and the passages that they belong to. If the model
// under this name has changed, so that earlier vectors are of another size, it
// drops those, and their notes lack vectors again.
func (w *writer) putVectors(ctx context.Context, model string, batch []pending, vectors map[[sha256.Size]byte][]float32) error {
	return indexfile.InTx(ctx, w.file.Writer, func(tx *sql.Tx) error {
		var rev int64
		if err := tx.QueryRowContext(ctx, "UPDATE state SET rev = rev + 1 RETURNING rev").Scan(&rev); err != nil {
			return err
		}
		for hash, vector := range vectors {
			if err := dropOtherSizes(ctx, tx, model, len(vector), rev); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO vectors(model, hash, vector) VALUES (?, ?, ?)",
				model, hash[:], packVector(vector)); err != nil {
				return err
			}
		}
		for _, p := range batch {
			if err := putPassages(ctx, tx, model, p, rev); err != nil {
				return err
			}
		}
		return dropUnused(ctx, tx, model)
	})
}

func dropOtherSizes(ctx context.Context, tx *sql.Tx, model string, size int, rev int64) error {
	var other bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM (SELECT vector FROM vectors WHERE model = ? LIMIT 1) WHERE length(vector) != ?)",
		model, 4*size).Scan(&other)
	if err != nil || !other {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM vectors WHERE model = ?", model); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE notes SET embedded = '', rev = ? WHERE embedded = ?", rev, model)
	return err
}

// putPassages stores which vectors a note has, unless the note has changed since or
// one of its vectors has just been dropped.
func putPassages(ctx context.Context, tx *sql.Tx, model string, p pending, rev int64) error {
	var same bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM notes WHERE id = ? AND hash = ?)", p.id, p.hash).Scan(&same)
	if err != nil || !same {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM passages WHERE note = ?", p.id); err != nil {
		return err
	}
	for i, text := range p.passages {
		hash := sha256.Sum256([]byte(text))
		result, err := tx.ExecContext(ctx, "INSERT INTO passages SELECT ?, ?, id FROM vectors WHERE model = ? AND hash = ?", p.id, i, model, hash[:])
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE notes SET embedded = ?, rev = ? WHERE id = ?", model, rev, p.id)
	return err
}

// dropUnused drops the vectors of texts that are in no note any more, once they
// outnumber the others. Until then they serve texts that return.
func dropUnused(ctx context.Context, tx *sql.Tx, model string) error {
	const unused = "model = ? AND NOT EXISTS (SELECT 1 FROM passages WHERE passages.vector = vectors.id)"
	var all, idle int
	err := tx.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM passages WHERE passages.vector = vectors.id)) FROM vectors WHERE model = ?",
		model).Scan(&all, &idle)
	if err != nil || idle <= all/2 || idle < 1000 {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM vectors WHERE "+unused, model)
	return err
}

func packVector(vector []float32) []byte {
	out := make([]byte, 0, 4*len(vector))
	for _, f := range vector {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(f))
	}
	return out
}

func unpackVector(data []byte) []float32 {
	out := make([]float32, len(data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}
