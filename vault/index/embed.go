package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/sequent-dev/sequent"
	"github.com/sequent-dev/sequent/internal/fairlock"
)

const (
	passageBytes = 2000 // a few paragraphs, which one vector can represent
	maxPassages  = 200  // of a note; the rest is found by its words alone
	maxTexts     = 64   // in one call of the Embedder
)

// passages divides a note into the texts that get vectors, each after the title: up to
// passageBytes, cut between paragraphs or words.
func (d *document) passages() (out []string) {
	text := strings.ToValidUTF8(strings.ReplaceAll(d.text, "\r\n", "\n"), "\uFFFD")
	for text != "" && len(out) < maxPassages {
		cut := min(len(text), passageBytes)
		for _, between := range []string{"\n\n", "\n", " "} {
			if i := strings.LastIndex(text[:cut], between); cut < len(text) && i > passageBytes/2 {
				cut = i
				break
			}
		}
		if part := strings.TrimSpace(strings.ToValidUTF8(text[:cut], "")); part != "" {
			out = append(out, d.title+"\n\n"+part)
		}
		text = strings.TrimLeft(text[cut:], "\n ")
	}
	if len(out) == 0 {
		out = append(out, d.title)
	}
	return out
}

// key returns the key of a passage.
func (x *Index) key(text string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(x.cfg.Model+"\x00"+text)))
}

// embed asks the Embedder for vectors that are missing, all of them or those of one call.
// One process embeds at a time.
func (x *Index) embed(ctx context.Context, progress func(Progress), all bool) error {
	if x.cfg.Embedder == nil {
		return nil
	}
	only := fairlock.New(x.path+"-embed.lock", os.O_CREATE|os.O_RDWR)
	defer only.Close() //nolint:errcheck // which unlocks in any case
	if locked, err := only.TryAcquire(); err != nil || !locked {
		return err
	}
	for done, missing := 0, 1; missing > 0 && (all || done == 0); {
		var keys, texts []string
		err := x.view(ctx, func(t *tx) {
			const lacking = " FROM passages WHERE note IN (SELECT id FROM notes WHERE model = ?) AND key NOT IN (SELECT key FROM vectors)"
			var key, text string
			t.each("SELECT DISTINCT key, text"+lacking+" LIMIT ?", []any{x.cfg.Model, maxTexts}, func() {
				keys, texts = append(keys, key), append(texts, text)
			}, &key, &text)
			t.each("SELECT count(DISTINCT key)"+lacking, []any{x.cfg.Model}, nil, &missing)
		})
		if err != nil || missing == 0 {
			return err
		}
		vectors, err := x.ask(ctx, texts)
		if err != nil {
			return err
		}
		if err := x.write(ctx, func(t *tx) {
			for i, key := range keys {
				t.exec("INSERT OR REPLACE INTO vectors VALUES (?, ?)", key, pack(vectors[i]))
			}
			t.exec("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM passages)")
		}); err != nil {
			return err
		}
		missing -= len(keys)
		if done += len(keys); progress != nil {
			progress(Progress{"embedding", done, done + missing})
		}
	}
	return nil
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
		vectors[i], err = unit(vectors[i], len(vectors[0]))
	}
	if err != nil {
		return nil, &sequent.Error{
			Code: CodeEmbeddingsFailed, Msg: "the embedding model did not answer", Fix: "try again, or search with mode FullText", Err: err,
		}
	}
	return vectors, nil
}

// unit returns a vector of length 1; one of length 0 is near no other and stays.
func unit(vector []float32, size int) ([]float32, error) {
	sum := 0.0
	for _, f := range vector {
		sum += float64(f) * float64(f)
	}
	length := math.Sqrt(sum)
	if len(vector) == 0 || len(vector) != size || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, errors.New("a vector has another size than the first, no numbers, or NaN or infinity")
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

// queryVector returns the vector of a query's text, and asks for vectors of notes that have
// changed since. A hybrid search waits at most embedTimeout.
func (x *Index) queryVector(ctx context.Context, q *Query) ([]float32, error) {
	if q.Mode == Hybrid {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.embedTimeout)
		defer cancel()
	}
	if err := x.embed(ctx, nil, false); err != nil {
		return nil, err
	}
	got, err := x.ask(ctx, []string{strings.TrimSpace(q.Text)})
	if err != nil {
		return nil, err
	}
	return got[0], nil
}

const (
	// nearFloor is how near in meaning a hit without words and links must be, on a
	// scale from 0, the average of two passages, to 1, the same text.
	nearFloor = 0.2
	maxNear   = 50 // hits without words and links, in a hybrid search
)

// addNear sets the semantic scores of the candidates. The nearest notes become hits; in mode
// Semantic, all.
func (s *search) addNear(out *Results) {
	cosines, usual := s.cosines()
	if lacking := int(s.notes) - len(cosines); lacking > 0 {
		out.Warning = fmt.Sprintf("%d of %d notes have no embeddings yet and are not found by meaning; "+
			"sync makes them, or sequent vault rebuild if the model has changed", lacking, int(s.notes))
	}
	var near []*found
	for id, c := range cosines {
		if f := s.candidate(id); f != nil && c > 0 {
			f.semantic, f.near = min(c, 1), min(max((c-usual)/max(1-usual, 1e-9), 0), 1)
			near = append(near, f)
		}
	}
	slices.SortFunc(near, func(a, b *found) int { return cmp.Or(cmp.Compare(b.semantic, a.semantic), cmp.Compare(a.id, b.id)) })
	for i, f := range near {
		f.hit = f.hit || s.query.Mode == Semantic || i < maxNear && f.near >= nearFloor
	}
}

// cosines returns the cosine of the query and the nearest passage of each note, and the
// average cosine of two different passages, which is what a model gives to unrelated
// texts: 0.1 with some models, 0.7 with others. It follows from the sum of all vectors,
// whose square is the sum of the cosines of all pairs.
func (s *search) cosines() (best map[int64]float64, usual float64) {
	best = make(map[int64]float64)
	sum := make([]float64, len(s.vector))
	count := 0.0
	var id int64
	var data sql.RawBytes
	s.tx.each("SELECT p.note, v.vector FROM notes n JOIN passages p ON p.note = n.id JOIN vectors v ON v.key = p.key WHERE n.model = ?",
		[]any{s.index.cfg.Model}, func() {
			if len(data) != 4*len(sum) {
				return // the model has changed under its name; vault rebuild embeds all notes again
			}
			cosine := 0.0
			for i, f := range s.vector {
				v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
				cosine += float64(f * v)
				sum[i] += float64(v)
			}
			best[id] = max(best[id], cosine)
			count++
		}, &id, &data)
	if count < 2 {
		return best, 0
	}
	square := 0.0
	for _, f := range sum {
		square += f * f
	}
	return best, max((square-count)/(count*(count-1)), 0)
}
