package vault_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/sequent-dev/sequent/vault"
)

// A new note and a renamed one replace no file that an editor creates at that moment.
func TestNothingIsReplaced(t *testing.T) {
	t.Parallel()
	v, dir := open(t)
	took := time.Millisecond
	for i := range 200 {
		name := strconv.Itoa(i)
		place, from := vault.URI("memory://"+name), vault.URI("memory://from"+name)
		if err := v.Create(t.Context(), vault.ParseNote(from, []byte("ours"))); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		created := make(chan error)
		wait := took * time.Duration(i%40) / 40
		go func() {
			for time.Since(begin) < wait {
				runtime.Gosched()
			}
			f, err := os.OpenFile(filepath.Join(dir, name+".md"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
			if err == nil {
				err = f.Close()
			}
			created <- err
		}()
		var err error
		if i%2 == 0 {
			err = v.Create(t.Context(), vault.ParseNote(place, []byte("ours")))
		} else {
			err = v.Rename(t.Context(), from, place)
		}
		took = time.Since(begin)
		if byPerson := <-created; (byPerson == nil) == (err == nil) {
			t.Errorf("%d: both wrote, or none: %v, %v", i, err, byPerson)
		}
	}
}
