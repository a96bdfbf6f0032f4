package dialecttest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sequent-dev/sequent"
)

// checkConcurrent records from several callers in several scopes at once. Each
// acknowledged thought must be in the store once, in a session of its scope.
func checkConcurrent(t *testing.T, cfg Config) {
	const scopes, callers, steps = 4, 4, 12
	w := newWorld(t, cfg, sequent.NewMemoryStore())

	var mu sync.Mutex // guards answers
	answers := make(map[string]answer)
	var wg sync.WaitGroup
	for scope := range scopes {
		for caller := range callers {
			wg.Go(func() {
				for step := range steps {
					text := fmt.Sprintf("scope%d caller%d step%d.", scope, caller, step)
					args := cfg.Call(Step{Number: step + 2, Total: 99, Text: text})
					a := w.do(t, args, fmt.Sprintf("scope%d", scope))
					mu.Lock()
					answers[text] = a
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()

	page, err := w.engine.Sessions(t.Context(), sequent.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	stored := make(map[string]int)
	for _, h := range page.Headers {
		s, err := w.engine.Session(t.Context(), h.ID)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := s.At(1)
		seq := 0
		for th := range s.All() {
			if seq++; th.Seq != seq {
				t.Errorf("thought %d of session %s has Seq %d", seq, h.ID, th.Seq)
			}
			if scope(th.Text) != scope(first.Text) {
				t.Errorf("session %s has thoughts of %s and of %s", h.ID, scope(first.Text), scope(th.Text))
			}
			for text := range answers {
				if strings.Contains(th.Text, text) {
					stored[text]++
				}
			}
		}
	}
	accepted := make(map[string]int)
	for text, a := range answers {
		want := 1
		if a.refused || a.fault != nil {
			want = 0
		} else {
			accepted[scope(text)]++
		}
		if stored[text] != want {
			t.Errorf("%q is in the store %d times, want %d: %s %v", text, stored[text], want, a.words, a.fault)
		}
	}
	for i := range scopes {
		if name := fmt.Sprintf("scope%d", i); accepted[name] == 0 {
			t.Errorf("nothing was accepted in %s", name)
		}
	}
}

func scope(text string) string {
	at := strings.Index(text, "scope")
	if at < 0 {
		return ""
	}
	name, _, _ := strings.Cut(text[at:], " ")
	return name
}
