package vault

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sequent-dev/sequent"
)

// countAge is how old the number of notes may be with which a note is created, and
// refusalAge one with which it is refused: people and other processes change it too.
const (
	countAge   = time.Minute
	refusalAge = time.Second
)

// A tally is the number of notes of a vault with a maximum.
type tally struct {
	most int // 0 means no maximum

	mu    sync.Mutex // guards what follows; held while the notes are counted
	notes int
	at    time.Time // when they were counted; zero means never
}

// Room returns an error with the code [sequent.CodeQuotaExceeded] if the vault has as
// many notes as [Config.MaxNotes] allows.
func (v *Vault) Room(ctx context.Context) error { return v.reserve(ctx, 0) }

// reserve adds n to the number of notes, and refuses if there is no room for one.
func (v *Vault) reserve(ctx context.Context, n int) error {
	t := &v.tally
	if t.most <= 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if age := time.Since(t.at); age > countAge || t.notes >= t.most && age > refusalAge {
		notes := 0
		for _, err := range v.Walk(ctx) {
			if err := ctx.Err(); err != nil {
				return wrap(err, scheme)
			}
			if err == nil { // what cannot be read is no note
				notes++
			}
		}
		t.notes, t.at = notes, time.Now()
	}
	if t.notes >= t.most {
		return &sequent.Error{
			Code: sequent.CodeQuotaExceeded,
			Msg:  fmt.Sprintf("the vault has %d notes, and the quota is %d", t.notes, t.most),
			Fix:  "delete notes that are no longer needed, or ask for a larger quota",
		}
	}
	t.notes += n
	return nil
}

// removed subtracts a note.
func (t *tally) removed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = max(t.notes-1, 0)
}
